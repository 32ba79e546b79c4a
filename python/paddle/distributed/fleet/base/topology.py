"""How the ranks of a job are laid out: one axis for each kind of parallelism, and a process group along each."""

from __future__ import annotations

import collections

import numpy as np

from ... import get_rank, get_world_size
from ...communication.group import new_group
from ...parallel import ParallelMode  # noqa: F401
from ...per_rank import PerRank


def create_nccl_config(nccl_config=None):
    """Options of NCCL. There is no NCCL in this build: None."""
    return None


class CommunicateTopology:
    """Ranks as the points of a grid, the last axis running fastest.

    Args:
        hybrid_group_names: names of the axes. dims: their sizes.
    """

    def __init__(
        self, hybrid_group_names=("data", "pipe", "sharding", "sep", "context", "model"), dims=(1, 1, 1, 1, 1, 1)
    ):
        self._parallel_names, self._dims = list(hybrid_group_names), [int(d) for d in dims]
        if len(self._parallel_names) != len(self._dims):
            raise ValueError(
                f"[CommunicateTopology] expected a size for each of {self._parallel_names}, got {self._dims}"
            )
        self.coordinate = collections.namedtuple("Coordinate", self._parallel_names)
        self._grid = np.arange(int(np.prod(self._dims))).reshape(self._dims)

    def get_hybrid_group_names(self) -> list:
        """Names of the dimensions: ``["data", "pipe", ...]``."""
        return self._parallel_names

    def _axis(self, name) -> int:
        if name not in self._parallel_names:
            raise ValueError(f"[CommunicateTopology] there is no axis {name!r}; there are {self._parallel_names}")
        return self._parallel_names.index(name)

    def get_dim(self, axis_name) -> int:
        """The size of an axis."""
        return self._dims[self._axis(axis_name)]

    get_dim_size = get_dim

    def world_size(self) -> int:
        """The number of ranks in the grid."""
        return int(self._grid.size)

    def get_rank(self, **args) -> int:
        """The rank at a point, given by all axes' names."""
        if set(args) != set(self._parallel_names):
            raise ValueError(
                f"[CommunicateTopology] expected a place on each of {self._parallel_names}, got {sorted(args)}"
            )
        return int(self._grid[tuple(args[name] for name in self._parallel_names)])

    def get_coord(self, rank):
        """The point of a rank, as a named tuple."""
        if not 0 <= rank < self.world_size():
            raise ValueError(f"[CommunicateTopology] expected a rank in [0, {self.world_size()}), got {rank}")
        return self.coordinate(*(int(i) for i in np.unravel_index(rank, self._dims)))

    def get_axis_list(self, axis_name, index) -> list:
        """All ranks at a place of an axis, in order."""
        return sorted(int(r) for r in np.take(self._grid, index, self._axis(axis_name)).ravel())

    def get_comm_list(self, axis_name) -> list:
        """The groups along an axis."""
        return self.get_fused_ranks([axis_name])

    def get_fused_ranks(self, fused_axis) -> list:
        """The groups along several axes taken as one, the last of them running fastest."""
        axes = [self._axis(name) for name in fused_axis]
        rest = [i for i in range(len(self._dims)) if i not in axes]
        size = int(np.prod([self._dims[i] for i in axes]))
        return np.transpose(self._grid, rest + axes).reshape(-1, size).tolist()

    def get_rank_from_stage(self, global_rank, **kwargs) -> int:
        """The rank that differs from ``global_rank`` only in the places given."""
        return self.get_rank(**self.get_coord(global_rank)._replace(**kwargs)._asdict())


# What fleet calls an axis, by the name that HybridCommunicateGroup's getters have.
_AXES = {"data_parallel": "data", "model_parallel": "model", "pipe_parallel": "pipe", "sharding_parallel": "sharding",
         "sep_parallel": "sep", "context_parallel": "context", "expert_parallel": "expert",
         "moe_sharding_parallel": "moe_sharding"}  # fmt: skip


class HybridCommunicateGroup:
    """This rank's place in a topology, and its process group along each axis. Every rank makes it, at the same time.

    Raises:
        ValueError: the topology has another number of ranks than the job.
    """

    def __init__(self, topology, hybrid_configs=None) -> None:
        self.nranks, self.global_rank = get_world_size(), get_rank()
        self._topo = topology
        if topology.world_size() != self.nranks:
            names, dims = topology.get_hybrid_group_names(), topology._dims
            raise ValueError(
                f"[fleet] expected degrees whose product is the number of ranks, {self.nranks}, got "
                + ", ".join(f"{n} {d}" for n, d in zip(names, dims))
            )
        self._place = topology.get_coord(self.global_rank)._asdict()
        self._groups: dict = {}
        for name in topology.get_hybrid_group_names():
            self._groups[name] = self._make_group(topology.get_comm_list(name))
        self.stage_id = self._place.get("pipe", 0)
        self._check_group = self._make_group([topology.get_axis_list("data", i) for i in range(self._degree("data"))])
        self._sharding_check_group = self._make_group(
            [topology.get_axis_list("sharding", i) for i in range(self._degree("sharding"))]
        )
        self._fused: dict = {}
        if self._degree("sep") > 1:
            for axes in (("data", "sep"), ("pipe", "model")):
                self._fused[axes] = self._make_group(sorted(topology.get_fused_ranks(list(axes))))
        pipe = self._groups["pipe"].ranks
        self.prev_rank, self.next_rank = (pipe[(self.stage_id + d) % len(pipe)] for d in (-1, 1))
        _current.set(self)

    def _make_group(self, lists):
        mine = None
        for ranks in lists:
            group = new_group(ranks)
            if self.global_rank in ranks:
                mine = group
        return mine

    def _degree(self, axis) -> int:
        return self._topo.get_dim(axis) if axis in self._topo.get_hybrid_group_names() else 1

    _dp_degree = property(lambda self: self._degree("data"))
    _mp_degree = property(lambda self: self._degree("model"))
    _pp_degree = property(lambda self: self._degree("pipe"))
    _sharding_degree = property(lambda self: self._degree("sharding"))
    _sep_degree = property(lambda self: self._degree("sep"))

    def get_parallel_mode(self) -> int:
        """The kind of parallelism that decides which wrapper a model gets (:class:`ParallelMode`): pipeline before tensor before
        segment before sharding before data."""
        for axis, mode in (("pipe", ParallelMode.PIPELINE_PARALLEL), ("model", ParallelMode.TENSOR_PARALLEL),
                           ("sep", ParallelMode.SEGMENT_PARALLEL), ("sharding", ParallelMode.SHARDING_PARALLEL)):  # fmt: skip
            if self._degree(axis) > 1:
                return mode
        return ParallelMode.DATA_PARALLEL

    def topology(self) -> CommunicateTopology:
        """The grid of ranks that the groups are cut from."""
        return self._topo

    def get_global_rank(self) -> int:
        """This rank among all."""
        return self.global_rank

    # -- pipeline
    def get_stage_id(self) -> int:
        """This rank's stage of the pipeline."""
        return self.stage_id

    @property
    def is_first_stage(self) -> bool:
        """Whether this rank runs the first stage of the pipeline."""
        return self.stage_id == 0

    @property
    def is_last_stage(self) -> bool:
        """Whether this rank runs the last stage of the pipeline."""
        return self.stage_id == self._degree("pipe") - 1

    def get_rank_from_stage(self, stage_id, **kwargs) -> int:
        """The rank at this place of another stage."""
        return self._topo.get_rank_from_stage(self.global_rank, pipe=stage_id, **kwargs)

    def _get_p2p_next_rank(self) -> int:
        return self.next_rank

    def _get_p2p_prev_rank(self) -> int:
        return self.prev_rank

    def get_p2p_groups(self):
        """Groups to send to the next stage, to the one before, and to receive from each: here one group serves all."""
        return (self._groups["pipe"],) * 4

    # -- groups over several axes
    def get_check_parallel_group(self, sharding=False):
        """All ranks that see the same data (with ``sharding``: the same part of the optimizer's states)."""
        return self._sharding_check_group if sharding else self._check_group

    def get_dp_sep_parallel_group(self):
        """The group that spans the data and the sep dimension."""
        return self._fuse("data", "sep")

    def get_pp_mp_parallel_group(self):
        """The group that spans the pipeline and the model dimension."""
        return self._fuse("pipe", "model")

    def _fuse(self, *axes):
        if axes not in self._fused:
            raise RuntimeError("[fleet] there is no such group unless sep_degree is greater than 1")
        return self._fused[axes]

    def create_fuse_group(self, fused_strategy_list, nccl_config=None):
        """Makes this rank's group over several axes. Every rank calls it. Returns (ranks, group)."""
        if not fused_strategy_list:
            raise ValueError("[create_fuse_group] expected the names of axes")
        group = self._make_group(sorted(self._topo.get_fused_ranks(list(fused_strategy_list))))
        return group.ranks, group


def _getters(name, axis):
    """get_<name>_rank, _world_size, _group and _group_src_rank."""

    def rank(self) -> int:
        return self._place.get(axis, 0)

    def world_size(self) -> int:
        return self._degree(axis)

    def group(self):
        if axis not in self._groups:
            raise RuntimeError(f"[fleet] the topology has no axis {axis!r}")
        return self._groups[axis]

    def src_rank(self) -> int:
        return group(self).ranks[0]

    rank.__doc__ = f"This rank's place along the axis {axis!r}."
    world_size.__doc__ = f"The number of ranks along the axis {axis!r}."
    group.__doc__ = f"This rank's process group along the axis {axis!r}."
    src_rank.__doc__ = f"The first rank of this rank's group along the axis {axis!r}."
    for suffix, f in (("rank", rank), ("world_size", world_size), ("group", group), ("group_src_rank", src_rank)):
        f.__name__ = f"get_{name}_{suffix}"
        setattr(HybridCommunicateGroup, f.__name__, f)


def _no_moe_sharding(self) -> int:
    """The number of ranks along the axis "moe_sharding"; 0 without one."""
    return self._degree("moe_sharding") if "moe_sharding" in self._groups else 0


for _name, _axis in _AXES.items():
    _getters(_name, _axis)

HybridCommunicateGroup.get_moe_sharding_parallel_world_size = _no_moe_sharding

_current = PerRank()


def latest():
    """The latest one that this rank made, or None."""
    return _current.get()


def current() -> HybridCommunicateGroup:
    """The latest one that this rank made.

    Raises:
        RuntimeError: there is none yet.
    """
    hcg = _current.get()
    if hcg is None:
        raise RuntimeError("[fleet] call fleet.init(is_collective=True) first")
    return hcg


def __getattr__(name):
    if name == "_HYBRID_PARALLEL_GROUP":  # clients read it
        return _current.get()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["CommunicateTopology", "HybridCommunicateGroup"]
