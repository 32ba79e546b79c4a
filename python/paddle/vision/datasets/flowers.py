"""Flowers of 102 kinds (Nilsback & Zisserman, 2008)."""

from __future__ import annotations

import os
import tarfile

import numpy as np
import paddle

from ...io import Dataset
from ...utils.download import dataset_file
from ...utils.lazy_import import try_import
from ..image import checked_backend

__all__ = []

_HOST = "http://paddlemodels.bj.bcebos.com/flowers/"
# What the files call test pictures are more than those for training: the two change places.
_SETS = {"train": "tstid", "test": "trnid", "valid": "valid"}


class Flowers(Dataset):
    """Pairs (image, kind [1], from 1).

    Args:
        data_file, label_file, setid_file (str, optional): the archive of pictures, imagelabels.mat and setid.mat; what isn't given
            is fetched. The archive is unpacked beside itself. The .mat files need SciPy.
        mode (str): "train", "valid" or "test".
        transform (callable, optional): applied to each image.
        download (bool): False forbids to fetch.
        backend (str, optional): "pil" images or "cv2" arrays; ``get_image_backend`` by default.

    Raises:
        AssertionError: an unknown mode, or a file is missing and may not be fetched. ValueError: an unknown backend.
    """

    def __init__(
        self, data_file=None, label_file=None, setid_file=None, mode="train", transform=None, download=True,
        backend=None,
    ):  # fmt: skip
        if mode.lower() not in _SETS:
            raise AssertionError(f"mode should be 'train', 'valid' or 'test', but got {mode}")
        self.backend, self.transform = checked_backend(backend), transform

        def path(given, argument, name, md5):
            return dataset_file(given, argument, _HOST + name, md5, "flowers", download)

        data_file = path(data_file, "data_file", "102flowers.tgz", "52808999861908f626f3c1f4e79d11fa")
        label_file = path(label_file, "label_file", "imagelabels.mat", "e0620be6f572b9609742df49c70aed4d")
        setid_file = path(setid_file, "setid_file", "setid.mat", "a5357ecc9cb78c4bef273ce3793fc85c")
        self.data_path = data_file.replace(".tgz", "/")
        if not os.path.exists(os.path.join(self.data_path, "jpg")):
            with tarfile.open(data_file) as archive:
                archive.extractall(self.data_path, filter="data")
        read = try_import("scipy.io").loadmat
        self.labels = read(label_file)["labels"][0]
        self.indexes = read(setid_file)[_SETS[mode.lower()]][0]

    def __getitem__(self, index):
        from PIL import Image

        number = self.indexes[index]
        image = Image.open(os.path.join(self.data_path, f"jpg/image_{number:05}.jpg"))
        if self.backend == "cv2":
            image = np.array(image)
        if self.transform is not None:
            image = self.transform(image)
        label = np.array([self.labels[number - 1]]).astype("int64")
        return (image if self.backend == "pil" else image.astype(paddle.get_default_dtype())), label

    def __len__(self):
        return len(self.indexes)
