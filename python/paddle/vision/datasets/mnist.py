"""MNIST and Fashion-MNIST from their IDX files (LeCun et al., 1998; Xiao et al., 2017)."""

from __future__ import annotations

import gzip
import struct

import numpy as np

from ...io import Dataset
from ...utils.download import dataset_file
from ..image import checked_backend

__all__ = []


class MNIST(Dataset):
    """Pairs (image [28, 28], label [1]) of handwritten digits.

    Args:
        image_path, label_path (str, optional): the gzipped IDX files; without them they are downloaded.
        mode (str): "train" or "test".
        transform (callable, optional): applied to each image.
        download (bool): False forbids to download.
        backend (str, optional): "pil" images or "cv2" arrays; ``get_image_backend`` by default.

    Raises:
        AssertionError: an unknown mode, or files are missing and may not be downloaded.
        ValueError: a file is not what it should be.
    """

    NAME = "mnist"
    URL_PREFIX = "https://dataset.bj.bcebos.com/mnist/"
    TEST_IMAGE_URL = URL_PREFIX + "t10k-images-idx3-ubyte.gz"
    TEST_IMAGE_MD5 = "9fb629c4189551a2d022fa330f9573f3"
    TEST_LABEL_URL = URL_PREFIX + "t10k-labels-idx1-ubyte.gz"
    TEST_LABEL_MD5 = "ec29112dd5afa0611ce80d1b7f02629c"
    TRAIN_IMAGE_URL = URL_PREFIX + "train-images-idx3-ubyte.gz"
    TRAIN_IMAGE_MD5 = "f68b3c2dcbeaaa9fbdd348bbdeb94873"
    TRAIN_LABEL_URL = URL_PREFIX + "train-labels-idx1-ubyte.gz"
    TRAIN_LABEL_MD5 = "d53e105ee54ea40749a09fcbcd1e9432"

    def __init__(self, image_path=None, label_path=None, mode="train", transform=None, download=True, backend=None):
        if mode.lower() not in ("train", "test"):
            raise AssertionError(f"mode should be 'train' or 'test', but got {mode}")
        self.backend = checked_backend(backend)
        self.mode, self.transform = mode.lower(), transform
        self.image_path = self._path(image_path, "IMAGE", download)
        self.label_path = self._path(label_path, "LABEL", download)
        self.dtype = "float32"
        self.images, self.labels = _read(self.image_path), _read(self.label_path)
        if len(self.images) != len(self.labels):
            raise ValueError(f"[{self.NAME}] {len(self.images)} images, but {len(self.labels)} labels")

    def _path(self, path, kind, download):
        name = f"{self.mode.upper()}_{kind}"
        source = getattr(self, name + "_URL"), getattr(self, name + "_MD5")
        return dataset_file(path, f"{kind.lower()}_path", *source, self.NAME, download)

    def __getitem__(self, index):
        image, label = self.images[index], np.array([self.labels[index]]).astype("int64")
        if self.backend == "pil":
            from PIL import Image

            image = Image.fromarray(image, mode="L")
        else:
            image = image.astype(self.dtype)
        return (image if self.transform is None else self.transform(image)), label

    def __len__(self):
        return len(self.labels)


class FashionMNIST(MNIST):
    """Pairs (image [28, 28], label [1]) of articles of clothing; the arguments are those of ``MNIST``."""

    NAME = "fashion-mnist"
    URL_PREFIX = "https://dataset.bj.bcebos.com/fashion_mnist/"
    TEST_IMAGE_URL = URL_PREFIX + "t10k-images-idx3-ubyte.gz"
    TEST_IMAGE_MD5 = "bef4ecab320f06d8554ea6380940ec79"
    TEST_LABEL_URL = URL_PREFIX + "t10k-labels-idx1-ubyte.gz"
    TEST_LABEL_MD5 = "bb300cfdad3c16e7a12a480ee83cd310"
    TRAIN_IMAGE_URL = URL_PREFIX + "train-images-idx3-ubyte.gz"
    TRAIN_IMAGE_MD5 = "8d4fb7e6c68d591d4c3dfef9ec88bf0d"
    TRAIN_LABEL_URL = URL_PREFIX + "train-labels-idx1-ubyte.gz"
    TRAIN_LABEL_MD5 = "25c81989df183df01b3e8a0aad5dffbe"


def _read(path):
    """An IDX file: two zero bytes, 8 for bytes, the rank, the sizes, the elements."""
    with gzip.open(path, "rb") as f:
        data = f.read()
    if len(data) < 4 or data[:3] != b"\0\0\x08" or len(data) < 4 + 4 * data[3]:
        raise ValueError(f"[mnist] {path} is no IDX file of bytes")
    rank = data[3]
    sizes = struct.unpack(f">{rank}I", data[4 : 4 + 4 * rank])
    elements = np.frombuffer(data, np.uint8, offset=4 + 4 * rank)
    if elements.size != int(np.prod(sizes)):
        raise ValueError(f"[mnist] {path} should have {int(np.prod(sizes))} elements, but has {elements.size}")
    return elements.reshape(sizes)
