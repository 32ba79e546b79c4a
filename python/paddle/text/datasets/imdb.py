"""Reviews of films (Maas et al., 2011)."""

from __future__ import annotations

import re
import string
import tarfile

import numpy as np

from ...io import Dataset
from ...utils.download import dataset_file
from .vocabulary import checked_mode, numbered

__all__ = []


class Imdb(Dataset):
    """Pairs (numbers of a review's words, [0] where it is favourable, [1] where it isn't).

    Args:
        data_file (str, optional): the archive aclImdb; without it it is fetched.
        mode (str): "train" or "test".
        cutoff (int): words that don't occur more often count as unknown, the last number.
        download (bool): False forbids to fetch.

    Raises:
        AssertionError: an unknown mode, or the file is missing and may not be fetched.
    """

    _SOURCE = "https://dataset.bj.bcebos.com/imdb%2FaclImdb_v1.tar.gz", "7c2ac02c03563afcf9b574c7e56c153a"
    _NAME = re.compile(r"aclImdb/(train|test)/(pos|neg)/.*\.txt$")

    def __init__(self, data_file=None, mode="train", cutoff=150, download=True):
        self.mode = checked_mode(mode, ("train", "test"))
        self.data_file = dataset_file(data_file, "data_file", *self._SOURCE, "imdb", download)
        reviews = list(self._reviews())
        self.word_idx = numbered((w for _, _, words in reviews for w in words), cutoff, "<unk>")
        unknown = self.word_idx["<unk>"]
        self.docs, self.labels = [], []
        for label, kind in enumerate(("pos", "neg")):
            for part, found, words in reviews:
                if (part, found) == (self.mode, kind):
                    self.docs.append([self.word_idx.get(w, unknown) for w in words])
                    self.labels.append(label)

    def _reviews(self):
        """(train or test, pos or neg, words) of every review."""
        marks = string.punctuation.encode("latin-1")
        with tarfile.open(self.data_file) as archive:
            for member in archive:
                match = self._NAME.match(member.name)
                if match:
                    text = archive.extractfile(member).read().rstrip(b"\n\r")
                    yield *match.groups(), text.translate(None, marks).lower().split()

    def __getitem__(self, index):
        return np.array(self.docs[index]), np.array([self.labels[index]])

    def __len__(self):
        return len(self.docs)
