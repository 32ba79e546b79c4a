"""Prices of houses in Boston (Harrison & Rubinfeld, 1978)."""

from __future__ import annotations

import numpy as np
import paddle

from ...io import Dataset
from ...utils.download import dataset_file
from .vocabulary import checked_mode

__all__ = []


class UCIHousing(Dataset):
    """Pairs (features [13], price [1]); features are less their mean, divided by their range.

    Args:
        data_file (str, optional): the table as text, 14 numbers a line; without it it is fetched.
        mode (str): "train", the first four fifths, or "test".
        download (bool): False forbids to fetch.

    Raises:
        AssertionError: an unknown mode, or the file is missing and may not be fetched.
    """

    _SOURCE = "http://paddlemodels.bj.bcebos.com/uci_housing/housing.data", "d4accdce7a25600298819f8e28e8d593"

    def __init__(self, data_file=None, mode="train", download=True):
        self.mode = checked_mode(mode, ("train", "test"))
        self.data_file = dataset_file(data_file, "data_file", *self._SOURCE, "uci_housing", download)
        self.dtype = paddle.get_default_dtype()
        table = np.fromfile(self.data_file, sep=" ").reshape(-1, 14)
        features = table[:, :-1]
        table[:, :-1] = (features - features.mean(0)) / (features.max(0) - features.min(0))
        border = int(len(table) * 0.8)
        self.data = table[:border] if self.mode == "train" else table[border:]

    def __getitem__(self, index):
        row = self.data[index].astype(self.dtype)
        return row[:-1], row[-1:]

    def __len__(self):
        return len(self.data)
