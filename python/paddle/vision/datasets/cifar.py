"""CIFAR-10 and CIFAR-100 from their archives of pickles (Krizhevsky, 2009)."""

from __future__ import annotations

import io
import pickle
import tarfile

import numpy as np

from ...io import Dataset
from ...utils.download import dataset_file
from ..image import checked_backend

__all__ = []


class _Arrays(pickle.Unpickler):
    """Takes dicts, lists, strings, numbers and NumPy arrays; nothing that could run."""

    _ALLOWED = {
        ("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct"),
        ("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode"),
    }  # fmt: skip

    def find_class(self, module, name):
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"[cifar] a data file asks for {module}.{name}")
        return super().find_class(module, name)


class Cifar10(Dataset):
    """Pairs (image [32, 32, 3], label) of ten kinds.

    Args:
        data_file (str, optional): the archive; without it it is downloaded.
        mode (str): "train" or "test".
        transform (callable, optional): applied to each image.
        download (bool): False forbids to download.
        backend (str, optional): "pil" images or "cv2" arrays; ``get_image_backend`` by default.

    Raises:
        AssertionError: an unknown mode, or the archive is missing and may not be downloaded.
    """

    _URL = "https://dataset.bj.bcebos.com/cifar/cifar-10-python.tar.gz"
    _MD5 = "c58f30108f718f92721af3b95e74349a"
    _PARTS = {"train": "data_batch", "test": "test_batch"}
    _LABELS = b"labels"

    def __init__(self, data_file=None, mode="train", transform=None, download=True, backend=None):
        if mode.lower() not in ("train", "test"):
            raise AssertionError(f"mode should be 'train' or 'test', but got {mode}")
        self.backend = checked_backend(backend)
        self.mode, self.transform = mode.lower(), transform
        self.data_file = dataset_file(data_file, "data_file", self._URL, self._MD5, "cifar", download)
        self.dtype = "float32"
        self.data = self._load()

    def _load(self):
        data = []
        with tarfile.open(self.data_file) as archive:
            for member in sorted((m for m in archive if self._PARTS[self.mode] in m.name), key=lambda m: m.name):
                content = archive.extractfile(member)
                if content is None:
                    continue
                batch = _Arrays(io.BytesIO(content.read()), encoding="bytes").load()
                data += list(zip(batch[b"data"], batch[self._LABELS]))
        return data

    def __getitem__(self, index):
        image, label = self.data[index]
        image = np.reshape(image, [3, 32, 32]).transpose([1, 2, 0])
        if self.backend == "pil":
            from PIL import Image

            image = Image.fromarray(image.astype("uint8"))
        else:
            image = image.astype(self.dtype)
        return (image if self.transform is None else self.transform(image)), np.array(label).astype("int64")

    def __len__(self):
        return len(self.data)


class Cifar100(Cifar10):
    """Pairs (image [32, 32, 3], label) of a hundred kinds; the arguments are those of ``Cifar10``."""

    _URL = "https://dataset.bj.bcebos.com/cifar/cifar-100-python.tar.gz"
    _MD5 = "eb9058c3a382ffc7106e4002c42a8d85"
    _PARTS = {"train": "train", "test": "test"}
    _LABELS = b"fine_labels"
