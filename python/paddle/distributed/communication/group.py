"""Process groups."""

from __future__ import annotations

import datetime

from ..._core import dist as _dist


class Group:
    """Some of the job's ranks, in order. Made by :func:`new_group`; group 0 has all ranks.

    Attributes: ``rank`` (of this process in the group, -1 outside it), ``ranks`` (global), ``nranks``, ``id``, ``name``.
    """

    def __init__(self, rank_in_group, id, ranks, pg=None, name=None) -> None:
        self._rank, self._id, self._ranks, self._name = rank_in_group, id, list(ranks), name

    rank = property(lambda self: self._rank, doc="This process's place in the group; -1 outside it.")
    ranks = property(lambda self: list(self._ranks), doc="The members' global ranks.")
    nranks = property(lambda self: len(self._ranks), doc="How many members there are.")
    world_size = property(
        lambda self: len(self._ranks) if self._rank >= 0 else -1,
        doc="How many members there are; -1 outside the group.",
    )
    id = property(lambda self: self._id, doc="The group's number.")
    name = property(lambda self: self._name or f"_default_pg{self._id}", doc="The group's name.")
    backend = property(lambda self: _dist.group_info(self._id)[3], doc="What carries the group's messages.")
    process_group = property(lambda self: self, doc="The group itself.")

    def is_member(self) -> bool:
        """Whether this process takes part: it is in the group and the group is more than itself."""
        return self._rank >= 0 and self.nranks > 1

    def get_group_rank(self, rank: int) -> int:
        """The place of a global rank in this group; -1 if it is no member."""
        return self._ranks.index(rank) if rank in self._ranks else -1

    def get_global_rank(self, rank: int) -> int:
        """The global rank of the group's ``rank``-th member."""
        return self._ranks[rank]

    def __repr__(self) -> str:
        return (
            f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: "
            + ", ".join(map(str, self._ranks))
            + (f"; name: {self.name}")
        )


def _group(id: int) -> Group:
    rank, ranks, name, _ = _dist.group_info(id)
    return Group(rank, id, ranks, name=name)


def default_group() -> Group:
    """The group of all ranks, connected if it was not yet."""
    if not _dist.connected():
        _dist.connect()
    return _group(0)


def resolve(group) -> Group:
    """``None`` is the default group.

    Raises:
        RuntimeError: this process is not in the group.
    """
    group = default_group() if group is None else group
    if group.rank < 0:
        raise RuntimeError(f"rank {_dist.rank()} is no member of the group of ranks {group.ranks}")
    return group


_DEFAULT_TIMEOUT = datetime.timedelta(seconds=1800)


def new_group(ranks=None, backend=None, timeout=_DEFAULT_TIMEOUT, nccl_comm_init_option=0, nccl_config=None) -> Group:
    """A group of some ranks. Every rank of the job calls it, members or not, in the same order.

    Args:
        ranks: global ranks; None: all.
        backend: "gloo", "shared_memory"; None (and "nccl" where there is no GPU): what fits.
        timeout: how long a collective waits for a rank before it names it.
    """
    ranks = list(range(_dist.world_size())) if ranks is None else sorted(ranks)
    return _group(_dist.new_group(ranks, _backend(backend), timeout.total_seconds()))


def _backend(name) -> str:
    return "auto" if name in (None, "", "nccl", "auto") else name


_get_global_group = default_group


def get_group(id: int = 0) -> Group:
    """The group with this number."""
    return default_group() if id == 0 else _group(id)


def barrier(group=None) -> None:
    """Waits until every rank of the group is here."""
    _dist.barrier(resolve(group).id)


def wait(tensor, group=None, use_calc_stream=True) -> None:
    """Waits for collectives on ``tensor``. Those of this system have ended when they return, or are waited for by their task."""
