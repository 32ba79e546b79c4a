"""State of a rank. A process is one rank; where ranks are threads of a process, each has its own."""

from __future__ import annotations

from .._core import dist as _dist


class PerRank:
    """A value for each rank, made by ``make()`` when it is first asked for."""

    def __init__(self, make=lambda: None) -> None:
        self._make, self._values = make, {}

    def get(self):
        rank = _dist.context()
        if rank not in self._values:
            self._values[rank] = self._make()
        return self._values[rank]

    def set(self, value) -> None:
        self._values[_dist.context()] = value
