"""Sentences of the Penn Treebank, as Mikolov prepared them."""

from __future__ import annotations

import tarfile
from collections import Counter

import numpy as np

from ...io import Dataset
from ...utils.download import dataset_file
from .vocabulary import checked_mode, numbered

__all__ = []


class Imikolov(Dataset):
    """Numbers of words: windows of a fixed width ("NGRAM"), or pairs of a sentence and the same a word later ("SEQ").

    Args:
        data_file (str, optional): the archive simple-examples; without it it is fetched.
        data_type (str): "NGRAM" or "SEQ".
        window_size (int): of the windows; for "SEQ" longer sentences are left out, if it is above 0.
        mode (str): "train" or "test".
        min_word_freq (int): words that don't occur more often count as unknown, the last number.
        download (bool): False forbids to fetch.

    Raises:
        AssertionError: an unknown mode or `data_type`, no window size, or the file is missing and may not be fetched.
    """

    _SOURCE = "https://dataset.bj.bcebos.com/imikolov%2Fsimple-examples.tgz", "30177ea32e27c525793142b6bf2c8e2d"

    def __init__(
        self, data_file=None, data_type="NGRAM", window_size=-1, mode="train", min_word_freq=50, download=True
    ):
        self.data_type = data_type.upper()
        if self.data_type not in ("NGRAM", "SEQ"):
            raise AssertionError(f"data type should be 'NGRAM', 'SEQ', but got {data_type}")
        self.mode = checked_mode(mode, ("train", "test"))
        self.window_size, self.min_word_freq = window_size, min_word_freq
        self.data_file = dataset_file(data_file, "data_file", *self._SOURCE, "imikolov", download)
        with tarfile.open(self.data_file) as archive:
            read = lambda part: [  # noqa: E731
                line.split() for line in archive.extractfile(f"./simple-examples/data/ptb.{part}.txt")
            ]
            self.word_idx = self._numbered(read("train") + read("valid"))
            self.data = self._samples(read(self.mode))

    def _numbered(self, sentences) -> dict:
        """Words are bytes; the marks of a sentence's ends and of what is unknown are texts."""
        counts = Counter(w for words in sentences for w in words)
        counts["<s>"] = counts["<e>"] = len(sentences)
        return numbered(counts, self.min_word_freq, "<unk>")

    def _samples(self, sentences) -> list:
        if self.data_type == "NGRAM" and self.window_size < 0:
            raise AssertionError("Invalid gram length")
        unknown, samples = self.word_idx["<unk>"], []
        first, last = self.word_idx.get("<s>", unknown), self.word_idx.get("<e>", unknown)
        for words in sentences:
            ids = [self.word_idx.get(w, unknown) for w in words]
            if self.data_type == "SEQ":
                if not 0 < self.window_size < len(ids) + 1:
                    samples.append(([first, *ids], [*ids, last]))
                continue
            ids = [first, *ids, last]
            samples += [tuple(ids[i - self.window_size : i]) for i in range(self.window_size, len(ids) + 1)]
        return samples

    def __getitem__(self, index):
        return tuple(np.array(part) for part in self.data[index])

    def __len__(self):
        return len(self.data)
