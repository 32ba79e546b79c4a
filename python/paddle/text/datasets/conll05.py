"""Semantic roles (Carreras & Màrquez, "Introduction to the CoNLL-2005 shared task", 2005)."""

from __future__ import annotations

import gzip
import tarfile

import numpy as np

from ...io import Dataset
from ...utils.download import dataset_file

__all__ = []

_HOST = "http://paddlemodels.bj.bcebos.com/conll05st"


class Conll05st(Dataset):
    """Nine arrays for each verb of each sentence: words, the words two and one before, at, one and two behind the verb, the verb,
    marks of these five places, labels of roles.

    Args:
        data_file (str, optional): the archive of test sentences; files that aren't given are fetched.
        word_dict_file, verb_dict_file, target_dict_file (str, optional): words, verbs and labels, one a line.
        emb_file (str, optional): vectors of words; only its path is kept.
        download (bool): False forbids to fetch.

    Raises:
        AssertionError: a file is missing and may not be fetched. RuntimeError: a label that can't be read.
    """

    def __init__(
        self, data_file=None, word_dict_file=None, verb_dict_file=None, target_dict_file=None, emb_file=None,
        download=True,
    ):  # fmt: skip
        def path(given, argument, name, md5):
            return dataset_file(given, argument, _HOST + name, md5, "conll05st", download)

        self.data_file = path(data_file, "data_file", "/conll05st-tests.tar.gz", "387719152ae52d60422c016e92a742fc")
        self.word_dict_file = path(
            word_dict_file, "word_dict_file", "%2FwordDict.txt", "ea7fb7d4c75cc6254716f0177a506baa"
        )
        self.verb_dict_file = path(
            verb_dict_file, "verb_dict_file", "%2FverbDict.txt", "0d2977293bbb6cbefab5b0f97db1e77c"
        )
        self.target_dict_file = path(
            target_dict_file, "target_dict_file", "%2FtargetDict.txt", "d8c7f03ceb5fc2e5a0fa7503a4353751"
        )
        self.emb_file = path(emb_file, "emb_file", "%2Femb", "bf436eb0faa1f6f9103017f8be57cdb7")
        self.word_dict = {w: i for i, w in enumerate(_lines(self.word_dict_file))}
        self.predicate_dict = {w: i for i, w in enumerate(_lines(self.verb_dict_file))}
        self.label_dict = _labels(_lines(self.target_dict_file))
        self.sentences, self.predicates, self.labels = [], [], []
        self._read()

    def _read(self) -> None:
        folder = "conll05st-release/test.wsj/"
        with tarfile.open(self.data_file) as archive:
            parts = [archive.extractfile(f"{folder}{n}/test.wsj.{n}.gz") for n in ("words", "props")]
            words, roles = (gzip.decompress(p.read()).decode().split("\n") for p in parts)
        sentence, rows = [], []
        for word, line in zip(words, roles):
            columns = line.split()
            if columns:
                sentence.append(word.strip())
                rows.append(columns)
            else:
                self._add(sentence, rows)
                sentence, rows = [], []
        self._add(sentence, rows)

    def _add(self, sentence, rows) -> None:
        """One sample for each verb: the first column names the verbs, each other one has the roles of one of them."""
        if not rows:
            return
        verbs, *columns = zip(*rows)
        verbs = [v for v in verbs if v != "-"]
        for verb, column in zip(verbs, columns):
            self.sentences.append(sentence)
            self.predicates.append(verb)
            self.labels.append(_spans(column))

    def __getitem__(self, index):
        sentence, labels = self.sentences[index], self.labels[index]
        verb, count = labels.index("B-V"), len(labels)
        around, mark = [], [0] * count
        for place in range(verb - 2, verb + 3):
            inside = 0 <= place < count
            around.append(sentence[place] if inside else "bos" if place < 0 else "eos")
            if inside:
                mark[place] = 1
        number = lambda w: self.word_dict.get(w, 0)  # noqa: E731
        columns = [[number(w) for w in sentence], *([number(w)] * len(sentence) for w in around)]
        columns += [[self.predicate_dict.get(self.predicates[index])] * len(sentence), mark]
        return tuple(np.array(c) for c in [*columns, [self.label_dict.get(label) for label in labels]])

    def __len__(self):
        return len(self.sentences)

    def get_dict(self):
        """(words, verbs, labels): each a dict from texts to numbers."""
        return self.word_dict, self.predicate_dict, self.label_dict

    def get_embedding(self):
        """The path of the vectors of words."""
        return self.emb_file


def _lines(path) -> list:
    with open(path) as file:
        return [line.strip() for line in file]


def _labels(lines) -> dict:
    """A begin and an inside of each role, in the order of the file, then O."""
    found: dict = {}
    for tag in dict.fromkeys(line[2:] for line in lines if line.startswith(("B-", "I-"))):
        found["B-" + tag], found["I-" + tag] = len(found), len(found) + 1
    found["O"] = len(found)
    return found


def _spans(column) -> list:
    """Brackets such as ``(A0*``, ``*``, ``*)`` as B-A0, I-A0, I-A0; O outside."""
    labels, tag, inside = [], "O", False
    for text in column:
        if "(" in text:
            tag, inside = text[1 : text.index("*")], ")" not in text
            labels.append("B-" + tag)
        elif text in ("*", "*)"):
            labels.append("I-" + tag if inside or text == "*)" else "O")
            inside = inside and text == "*"
        else:
            raise RuntimeError(f"Unexpected label: {text}")
    return labels
