"""Text: sets of texts from files, and the best labels of a sequence."""

from __future__ import annotations

from .datasets import WMT14, WMT16, Conll05st, Imdb, Imikolov, Movielens, UCIHousing
from .viterbi_decode import ViterbiDecoder, viterbi_decode

__all__ = [
    "Conll05st", "Imdb", "Imikolov", "Movielens", "UCIHousing", "ViterbiDecoder", "WMT14", "WMT16", "viterbi_decode",
]  # fmt: skip
