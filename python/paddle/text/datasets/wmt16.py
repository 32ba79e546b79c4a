"""Descriptions of pictures in English and German (Elliott et al., "Multi30K", 2016)."""

from __future__ import annotations

import tarfile
from collections import Counter

import numpy as np

from ...io import Dataset
from ...utils.download import dataset_file
from .vocabulary import checked_mode

__all__ = []

_WORDS = {"en": 11250, "de": 19220}
_MARKS = ["<s>", "<e>", "<unk>"]


class WMT16(Dataset):
    """Numbers of the source's words (with marks at both ends), of the target's behind a start, and of those before an end.

    Args:
        data_file (str, optional): the archive; without it it is fetched.
        mode (str): "train", "test" or "val".
        src_dict_size, trg_dict_size (int): how many words of each language are known, three marks among them.
        lang (str): the source, "en" or "de".
        download (bool): False forbids to fetch.

    Raises:
        AssertionError: an unknown mode, sizes that aren't positive, or the file is missing and may not be fetched.
    """

    _SOURCE = "http://paddlemodels.bj.bcebos.com/wmt/wmt16.tar.gz", "0c38be43600334966403524a40dcd81e"

    def __init__(
        self, data_file=None, mode="train", src_dict_size=-1, trg_dict_size=-1, lang="en", download=True
    ):
        self.mode = checked_mode(mode, ("train", "test", "val"))
        self.data_file = dataset_file(data_file, "data_file", *self._SOURCE, "wmt16", download)
        if src_dict_size <= 0 or trg_dict_size <= 0:
            raise AssertionError("dict_size should be set as positive number")
        self.lang = lang
        source, target = ("en", "de") if lang == "en" else ("de", "en")
        self.src_dict_size = min(src_dict_size, _WORDS[source])
        self.trg_dict_size = min(trg_dict_size, _WORDS[target])
        train = self._pairs("train")
        column = 0 if lang == "en" else 1
        self.src_dict = _numbered((p[column] for p in train), self.src_dict_size)
        self.trg_dict = _numbered((p[1 - column] for p in train), self.trg_dict_size)
        self.src_ids, self.trg_ids, self.trg_ids_next = [], [], []
        start, end, unknown = (self.src_dict[m] for m in _MARKS)
        for pair in train if self.mode == "train" else self._pairs(self.mode):
            target = [self.trg_dict.get(w, unknown) for w in pair[1 - column].split()]
            self.src_ids.append([start, *(self.src_dict.get(w, unknown) for w in pair[column].split()), end])
            self.trg_ids.append([start, *target])
            self.trg_ids_next.append([*target, end])

    def _pairs(self, part) -> list:
        with tarfile.open(self.data_file) as archive:
            rows = [line.decode().strip().split("\t") for line in archive.extractfile(f"wmt16/{part}")]
        return [r for r in rows if len(r) == 2]

    def __getitem__(self, index):
        return tuple(np.array(part[index]) for part in (self.src_ids, self.trg_ids, self.trg_ids_next))

    def __len__(self):
        return len(self.src_ids)

    def get_dict(self, lang, reverse=False):
        """A language's dict from words to numbers; with `reverse` from numbers to words.

        Args:
            lang (str): "en" or "de".
            reverse (bool): numbers first.
        """
        found = self.src_dict if lang == self.lang else self.trg_dict
        return {i: w for w, i in found.items()} if reverse else found


def _numbered(sentences, size) -> dict:
    """The marks, then the most frequent words; equally frequent ones as they come first."""
    counts = Counter(w for s in sentences for w in s.split())
    ranked = sorted(counts, key=lambda w: counts[w], reverse=True)
    return {w: i for i, w in enumerate([*_MARKS, *ranked][:size])}
