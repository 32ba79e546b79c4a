"""How a tensor lies along one dimension of a mesh."""

from __future__ import annotations

import functools


class ReduceType:
    """How the parts of a Partial tensor combine."""

    kRedSum, kRedMax, kRedMin, kRedProd, kRedAvg, kRedAny, kRedAll = range(7)


# Between ReduceType and the core's numbering.
_CORE = {0: 0, 1: 2, 2: 3, 3: 4, 4: 1, 5: 5, 6: 6}
_NAMES = ["sum", "avg", "max", "min", "prod", "any", "all"]
_KINDS = ["kRedSum", "kRedMax", "kRedMin", "kRedProd", "kRedAvg", "kRedAny", "kRedAll"]


class Placement:
    """Base of Replicate, Shard and Partial."""

    def is_replicated(self) -> bool:
        """Whether every process along the dimension has the whole tensor."""
        return isinstance(self, Replicate)

    def is_partial(self) -> bool:
        """Whether the processes' tensors still have to be combined."""
        return isinstance(self, Partial)

    def is_shard(self, dim=None) -> bool:
        """Whether the tensor is cut along a dimension (along ``dim``, if given)."""
        return isinstance(self, Shard) and (dim is None or self._dim == dim)

    def __eq__(self, other) -> bool:
        return isinstance(other, Placement) and self._key() == other._key()

    def __ne__(self, other) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._key())


class Replicate(Placement):
    """Every process along the dimension has the whole tensor."""

    def _key(self):
        return ("R", 0)

    def __repr__(self) -> str:
        return "Replicate()"


class Shard(Placement):
    """Every process along the dimension has a part of the tensor, cut along ``dim`` (negative: from the end)."""

    def __init__(self, dim) -> None:
        self._dim = int(dim)

    def get_dim(self) -> int:
        """The dimension of the tensor that is cut."""
        return self._dim

    dim = property(get_dim)

    def _key(self):
        return ("S", self._dim)

    def __repr__(self) -> str:
        return f"Shard(dim={self._dim})"


class Partial(Placement):
    """The processes' tensors combine to the true one, by default as a sum."""

    def __init__(self, reduce_type=ReduceType.kRedSum) -> None:
        self._reduce_type = reduce_type

    def reduce_type(self) -> int:
        """How the processes' tensors combine, one of ``ReduceType``."""
        return self._reduce_type

    def _key(self):
        return ("P", _CORE[self._reduce_type])

    def __repr__(self) -> str:
        return f"Partial(reduce_type={_KINDS[self._reduce_type][4:].upper()})"


def encode(mesh, placements, rank) -> str:
    """Mesh and placements as the core's operators take them. ``rank``: of the tensor; -1 skips the checks.

    Raises:
        ValueError: a placement does not fit a tensor of that rank.
        TypeError: an item is no placement.
    """
    from ..._core import dist

    from .process_mesh import ProcessMesh

    if not isinstance(mesh, ProcessMesh):
        raise ValueError(f"expected a ProcessMesh, got {type(mesh).__name__}")
    for p in placements:
        if not isinstance(p, Placement):
            raise TypeError(f"expected placements (Replicate, Shard, Partial), got {type(p).__name__}")
    return dist.encode(mesh.shape, mesh.process_ids, mesh.dim_names, [p._key() for p in placements], rank)


@functools.lru_cache(maxsize=1024)
def decode(text: str) -> tuple:
    """(mesh, placements) of what :func:`encode` made."""
    from .process_mesh import ProcessMesh

    shape, ids, names, placements = text.split("|")
    mesh = ProcessMesh._of([int(s) for s in shape.split(",")], [int(i) for i in ids.split(",")], names.split(","))
    return mesh, tuple(_placement(p) for p in placements.split(","))


def _placement(text: str) -> Placement:
    if text == "R":
        return Replicate()
    if text[0] == "S":
        return Shard(int(text[1:]))
    core = _NAMES.index(text[1:])
    return Partial(next(k for k, v in _CORE.items() if v == core))
