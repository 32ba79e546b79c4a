"""Generators of samples in text form: for each slot the number of its values, then the values."""

from __future__ import annotations

import sys

__all__ = []


class DataGenerator:
    """Turns lines into samples: ``generate_sample`` says what a line gives, ``generate_batch`` what becomes of a batch."""

    def __init__(self) -> None:
        self._proto_info = None
        self.batch_size_ = 32

    def set_batch(self, batch_size: int) -> None:
        """How many samples ``generate_batch`` gets at once."""
        self.batch_size_ = batch_size

    def generate_sample(self, line):
        """A function without arguments that gives the samples of a line: lists of (slot, values). To be written by the user."""
        raise NotImplementedError(
            f"[{type(self).__name__}] expected generate_sample to be overridden: for a line, a function that gives samples "
            "such as [('words', [1926, 8, 17]), ('label', [1])]"
        )

    def generate_batch(self, samples):
        """A function without arguments that gives what to write for a batch of samples; the samples as they are."""
        return lambda: iter(samples)

    def _gen_str(self, line):
        raise NotImplementedError(
            f"[{type(self).__name__}] has no text form; derive from MultiSlotDataGenerator or MultiSlotStringDataGenerator"
        )

    def _written(self, batch):
        for sample in self.generate_batch(batch)():
            sys.stdout.write(self._gen_str(sample))

    def _run(self, lines) -> None:
        batch = []
        for line in lines:
            for sample in self.generate_sample(line)():
                if sample is None:
                    continue
                batch.append(sample)
                if len(batch) == self.batch_size_:
                    self._written(batch)
                    batch = []
        if batch:
            self._written(batch)

    def run_from_memory(self) -> None:
        """Writes the samples that ``generate_sample(None)`` gives to standard output."""
        self._run([None])

    def run_from_stdin(self) -> None:
        """Writes the samples of each line of standard input to standard output."""
        self._run(sys.stdin)


def _checked(line):
    line = list(line) if isinstance(line, zip) else line
    if not isinstance(line, (list, tuple)):
        raise ValueError(
            f"[DataGenerator] expected a sample as a list or tuple of (slot, values), got {type(line).__name__}"
        )
    return line


class MultiSlotStringDataGenerator(DataGenerator):
    """Values that are strings already, written as they are."""

    def _gen_str(self, line) -> str:
        return " ".join(" ".join([str(len(values)), *values]) for _, values in _checked(line)) + "\n"


class MultiSlotDataGenerator(DataGenerator):
    """Values that are numbers; a slot's are all whole, or it is one of floats."""

    def _gen_str(self, line) -> str:
        line = _checked(line)
        known = dict(self._proto_info or ())
        if self._proto_info is not None and [n for n, _ in self._proto_info] != [n for n, _ in line]:
            raise ValueError(
                f"[DataGenerator] expected the slots of the samples before, {[n for n, _ in self._proto_info]}, "
                f"got {[n for n, _ in line]}"
            )
        parts = []
        for name, values in line:
            if not isinstance(name, str):
                raise ValueError(f"[DataGenerator] expected a slot's name as str, got {type(name).__name__}")
            if not isinstance(values, list) or not values:
                raise ValueError(f"[DataGenerator] expected slot {name} to be a list with values, got {values!r}")
            if not all(isinstance(v, (int, float)) for v in values):
                raise ValueError(f"[DataGenerator] expected slot {name} to hold numbers, got {values!r}")
            if any(isinstance(v, float) for v in values):
                known[name] = "float"
            known.setdefault(name, "uint64")
            parts.append(" ".join(map(str, [len(values), *values])))
        self._proto_info = [(name, known[name]) for name, _ in line]
        return " ".join(parts) + "\n"
