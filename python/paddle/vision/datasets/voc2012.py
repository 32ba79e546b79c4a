"""Pictures and which object each pixel belongs to (Everingham et al., the PASCAL VOC challenge, 2012)."""

from __future__ import annotations

import io
import tarfile

import numpy as np
import paddle

from ...io import Dataset
from ...utils.download import dataset_file
from ..image import checked_backend

__all__ = []

_FOLDER = "VOCdevkit/VOC2012/"
_SETS = {"train": "trainval", "test": "train", "valid": "val"}


class VOC2012(Dataset):
    """Pairs (image, image of the labels).

    Args:
        data_file (str, optional): the archive; without it it is fetched.
        mode (str): "train" (pictures for training and validation), "valid" or "test" (those for training).
        transform (callable, optional): applied to each image, not to the labels.
        download (bool): False forbids to fetch.
        backend (str, optional): "pil" images or "cv2" arrays; ``get_image_backend`` by default.

    Raises:
        AssertionError: an unknown mode, or the file is missing and may not be fetched. ValueError: an unknown backend.
    """

    _SOURCE = (
        "https://dataset.bj.bcebos.com/voc/VOCtrainval_11-May-2012.tar", "6cd6e144f989b92b3379bac3b3de84fd",
    )  # fmt: skip

    def __init__(self, data_file=None, mode="train", transform=None, download=True, backend=None):
        if mode.lower() not in _SETS:
            raise AssertionError(f"mode should be 'train', 'valid' or 'test', but got {mode}")
        self.backend, self.transform = checked_backend(backend), transform
        self.flag = _SETS[mode.lower()]
        self.data_file = dataset_file(data_file, "data_file", *self._SOURCE, "voc2012", download)
        self.dtype = paddle.get_default_dtype()
        self._archive = tarfile.open(self.data_file)
        self._members = {m.name: m for m in self._archive.getmembers()}
        names = self._bytes(f"ImageSets/Segmentation/{self.flag}.txt").decode().split()
        self.data = [f"JPEGImages/{n}.jpg" for n in names]
        self.labels = [f"SegmentationClass/{n}.png" for n in names]

    def _bytes(self, name):
        return self._archive.extractfile(self._members[_FOLDER + name]).read()

    def __getitem__(self, index):
        from PIL import Image

        image, label = (Image.open(io.BytesIO(self._bytes(n[index]))) for n in (self.data, self.labels))
        if self.backend == "cv2":
            image, label = np.array(image), np.array(label)
        if self.transform is not None:
            image = self.transform(image)
        return (image, label) if self.backend == "pil" else (image.astype(self.dtype), label.astype(self.dtype))

    def __len__(self):
        return len(self.data)
