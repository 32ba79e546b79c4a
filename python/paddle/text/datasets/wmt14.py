"""Translations from English to French (Bojar et al., WMT 2014)."""

from __future__ import annotations

import itertools
import tarfile

import numpy as np

from ...io import Dataset
from ...utils.download import dataset_file
from .vocabulary import checked_mode

__all__ = []

_UNKNOWN, _LONGEST = 2, 80


class WMT14(Dataset):
    """Numbers of the source's words (with marks at both ends), of the target's behind a start, and of those before an end.

    Args:
        data_file (str, optional): the archive; without it it is fetched.
        mode (str): "train", "test" or "gen".
        dict_size (int): how many words are known.
        download (bool): False forbids to fetch.

    Raises:
        AssertionError: an unknown mode, no `dict_size`, or the file is missing and may not be fetched.
    """

    _SOURCE = "http://paddlemodels.bj.bcebos.com/wmt/wmt14.tgz", "0791583d57d5beb693b9414c5b36798c"

    def __init__(self, data_file=None, mode="train", dict_size=-1, download=True):
        self.mode = checked_mode(mode, ("train", "test", "gen"))
        self.data_file = dataset_file(data_file, "data_file", *self._SOURCE, "wmt14", download)
        if dict_size <= 0:
            raise AssertionError("dict_size should be set as positive number")
        self.dict_size = dict_size
        self.src_ids, self.trg_ids, self.trg_ids_next = [], [], []
        with tarfile.open(self.data_file) as archive:
            members = archive.getmembers()
            self.src_dict, self.trg_dict = (self._words(archive, members, n) for n in ("src.dict", "trg.dict"))
            for member in members:
                if member.name.endswith(f"{self.mode}/{self.mode}"):
                    for line in archive.extractfile(member):
                        self._add(line.decode().strip().split("\t"))

    def _words(self, archive, members, ending) -> dict:
        (member,) = (m for m in members if m.name.endswith(ending))
        lines = itertools.islice(archive.extractfile(member), self.dict_size)
        return {line.strip().decode(): i for i, line in enumerate(lines)}

    def _add(self, columns) -> None:
        if len(columns) != 2:
            return
        source = [self.src_dict.get(w, _UNKNOWN) for w in ["<s>", *columns[0].split(), "<e>"]]
        target = [self.trg_dict.get(w, _UNKNOWN) for w in columns[1].split()]
        if max(len(source), len(target)) <= _LONGEST:
            self.src_ids.append(source)
            self.trg_ids.append([self.trg_dict["<s>"], *target])
            self.trg_ids_next.append([*target, self.trg_dict["<e>"]])

    def __getitem__(self, index):
        return tuple(np.array(part[index]) for part in (self.src_ids, self.trg_ids, self.trg_ids_next))

    def __len__(self):
        return len(self.src_ids)

    def get_dict(self, reverse=False):
        """(of the source, of the target): dicts from words to numbers; with `reverse` from numbers to words."""
        if reverse:
            return tuple({i: w for w, i in d.items()} for d in (self.src_dict, self.trg_dict))
        return self.src_dict, self.trg_dict
