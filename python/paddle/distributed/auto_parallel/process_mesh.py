"""ProcessMesh: processes in a named, n-dimensional arrangement."""

from __future__ import annotations

import numpy as np

from ..._core import dist as _dist

_current: list = []


class ProcessMesh:
    """Processes (global ranks) in an n-dimensional arrangement.

    Args:
        mesh: nested lists or an array of process ids, all different.
        dim_names: names of the dimensions; None: ``d0``, ``d1``, ...
        shape, process_ids: the same, given flat; used where ``mesh`` is None.

    Raises:
        ValueError: ids or names repeat, or the counts disagree.
    """

    def __init__(self, mesh=None, dim_names=None, shape=None, process_ids=None) -> None:
        if mesh is None:
            if shape is None or process_ids is None:
                raise ValueError("[ProcessMesh] expected mesh, or shape and process_ids")
            ids = np.array(process_ids, dtype=np.int64)
            if ids.size != int(np.prod(shape)):
                raise ValueError(
                    f"[ProcessMesh] expected {int(np.prod(shape))} process ids for the shape {list(shape)}, got {ids.size}"
                )
            ids = ids.reshape(shape)
        else:
            if not isinstance(mesh, (list, tuple, np.ndarray, ProcessMesh)):
                raise ValueError("The mesh must be an instance of list or np.ndarray.")
            ids = mesh._ids if isinstance(mesh, ProcessMesh) else np.array(mesh)
            if ids.dtype.kind not in "iu":
                raise ValueError("All elements of the mesh must be integer")
        self._ids = ids.astype(np.int64)
        names = [f"d{i}" for i in range(ids.ndim)] if dim_names is None else list(dim_names)
        if len(names) != ids.ndim:
            raise ValueError("The length of dims_names must be same as the shape of the mesh.")
        if not all(isinstance(n, str) for n in names):
            raise ValueError("The dim_name in dim_names must be an instance of str.")
        self._names = names
        self._text = _dist.encode(self.shape, self.process_ids, names, [], -1).rsplit("|", 1)[0] if ids.size else ""

    @classmethod
    def _of(cls, shape, ids, names) -> ProcessMesh:
        return cls(np.array(ids, np.int64).reshape(shape), names)

    shape = property(lambda self: list(self._ids.shape), doc="sizes of the dimensions")
    ndim = property(lambda self: self._ids.ndim, doc="number of dimensions")
    size = property(lambda self: self._ids.size, doc="number of processes")
    mesh = property(lambda self: self._ids, doc="the ids as an array")
    dim_names = property(lambda self: list(self._names), doc="names of the dimensions")
    process_ids = property(lambda self: self._ids.reshape(-1).tolist(), doc="the ids, row by row")
    unique_id = property(lambda self: hash(self), doc="equal for equal meshes")

    def get_dim_size(self, dim_name) -> int:
        """The size of a dimension, by name or number."""
        return self._ids.shape[self._axis(dim_name)]

    def _axis(self, dim) -> int:
        if isinstance(dim, int):
            return dim
        if dim not in self._names:
            raise ValueError(f"[ProcessMesh] expected a dimension among {self._names}, got {dim!r}")
        return self._names.index(dim)

    def get_rank_by_dim_and_process_id(self, dim_name, process_id) -> int:
        """The place of a process along a dimension; -1 if it is not in the mesh."""
        at = np.argwhere(self._ids == process_id)
        return int(at[0][self._axis(dim_name)]) if at.size else -1

    def get_mesh_with_dim(self, dim_name, index=None) -> ProcessMesh:
        """The mesh with a dimension moved to the front; with ``index``, the part at that place along it."""
        axis = self._axis(dim_name)
        ids = np.moveaxis(self._ids, axis, 0)
        names = [dim_name, *(n for n in self._names if n != dim_name)]
        if index is None:
            return ProcessMesh(ids, names)
        return ProcessMesh(np.atleast_1d(ids[index]), names[1:] or names)

    def get_submesh_with_dim(self, dim_name) -> ProcessMesh:
        """The one-dimensional part along a dimension that this process is in; None outside the mesh."""
        at = np.argwhere(self._ids == _dist.rank())
        if not at.size:
            return None
        index = [int(i) for i in at[0]]
        index[self._axis(dim_name)] = slice(None)
        return ProcessMesh(self._ids[tuple(index)], [dim_name])

    def get_group(self, dim_name=None):
        """The process group of this rank along a dimension (may be left out where there is one)."""
        from ..communication.group import _group, default_group

        if dim_name is None and self.ndim != 1:
            raise ValueError("[get_group] expected a dim_name for a mesh of several dimensions")
        default_group()
        sub = self.get_submesh_with_dim(self._names[0] if dim_name is None else dim_name)
        return None if sub is None else _group(_dist.group_of(sub.process_ids))

    def contains(self, process_id) -> bool:
        """Whether the process is part of the mesh."""
        return bool((self._ids == process_id).any())

    def __getitem__(self, index) -> ProcessMesh:
        parts = index if isinstance(index, tuple) else (index,)
        names = [n for i, n in enumerate(self._names) if i >= len(parts) or not isinstance(parts[i], (int, np.integer))]
        ids = self._ids[index]
        return ProcessMesh(np.atleast_1d(ids), names or [self._names[-1]])

    def __eq__(self, other) -> bool:
        return isinstance(other, ProcessMesh) and self.shape == other.shape and self.process_ids == other.process_ids

    def __ne__(self, other) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((tuple(self.shape), tuple(self.process_ids)))

    def __deepcopy__(self, memo) -> ProcessMesh:
        return ProcessMesh(self._ids.copy(), list(self._names))

    def __enter__(self) -> ProcessMesh:
        _current.append(self)
        return self

    def __exit__(self, *_) -> None:
        _current.pop()

    def __repr__(self) -> str:
        sizes, ids = ",".join(map(str, self.shape)), ",".join(map(str, self.process_ids))
        return f"{{shape: [{sizes}], process_ids: [{ids}], dim_names: [{','.join(self._names)}]}}"

    __str__ = __repr__


_global: list = [None]


def set_mesh(mesh) -> None:
    """Makes a mesh the default one of the program."""
    _global[0] = mesh if isinstance(mesh, ProcessMesh) else ProcessMesh(mesh)


def get_mesh():
    """The mesh that :func:`set_mesh` set, or None."""
    return _current[-1] if _current else _global[0]
