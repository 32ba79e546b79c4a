"""Distributed tensors: making, moving, and the layers and parameters that hold them."""

from __future__ import annotations

import itertools

import paddle

from ... import _C_ops
from ..._core import dist as _dist
from ...base.framework import EagerParamBase
from ...jit import _trace_api
from .placement_type import Partial, Replicate, Shard, decode, encode
from .process_mesh import ProcessMesh


class DistAttr:
    """A mesh and how a tensor's dimensions lie on it, in the 2.x form: ``sharding_specs`` has a mesh dimension's name (or None) for
    each dimension of the tensor."""

    def __init__(self, mesh, sharding_specs) -> None:
        if not isinstance(mesh, ProcessMesh):
            raise ValueError("The mesh must be an instance of paddle.distributed.ProcessMesh.")
        self.process_mesh, self.sharding_specs = mesh, list(sharding_specs)
        self.dims_mapping = [mesh.dim_names.index(s) if s is not None else -1 for s in sharding_specs]

    @property
    def placements(self) -> list:
        """One placement for each dimension of the mesh, by ``dims_mapping``."""
        result: list = [Replicate() for _ in range(self.process_mesh.ndim)]
        for dim, axis in enumerate(self.dims_mapping):
            if axis >= 0:
                result[axis] = Shard(dim)
        return result


def attr_of(tensor):
    """(mesh, placements) of a distributed tensor, else None."""
    text = _dist.attr(tensor)
    return None if text is None else decode(text)


def text_of(tensor) -> str:
    return _dist.attr(tensor) or ""


def _place(value, text):
    """A plain or distributed tensor as ``text`` says; gradients flow through."""
    return _C_ops.reshard(value, text, _origin(value))


_names = itertools.count()


def _origin(value) -> str:
    """How a tensor lies; while a program is captured, a name for that."""
    return f"@{next(_names)}" if _trace_api.tracing() else text_of(value)


def shard_tensor(data, mesh, placements, dtype=None, place=None, stop_gradient=None):
    """A distributed tensor of the value ``data``, which every process has whole.

    Args:
        data: a tensor, a parameter (the result is a parameter too), an array, a list, a number.
        mesh: ProcessMesh. placements: one Placement for each dimension of the mesh.
        dtype: of the result; None: that of ``data``.
        stop_gradient: None: that of a tensor, True for other data.

    Raises:
        ValueError: a placement does not fit.
    """
    tensor = data if isinstance(data, paddle.Tensor) else paddle.to_tensor(data, dtype=dtype)
    if dtype is not None and tensor.dtype != paddle.to_tensor(0, dtype=dtype).dtype:
        tensor = tensor.astype(dtype)
    text = encode(mesh, placements, tensor.ndim)
    if stop_gradient is None:
        stop_gradient = tensor.stop_gradient if isinstance(data, paddle.Tensor) else True
    if isinstance(data, EagerParamBase):
        with paddle.no_grad():
            value = _place(data, text)
        param = type(data).from_tensor(value, name=data.name, trainable=not stop_gradient)
        for key, attribute in getattr(data, "__dict__", {}).items():
            setattr(param, key, attribute)
        param.persistable = data.persistable
        return param
    if not tensor.stop_gradient and not tensor.is_leaf:
        return _place(tensor, text)
    with paddle.no_grad():
        result = _place(tensor, text)
    result.stop_gradient = stop_gradient
    result.persistable = getattr(tensor, "persistable", False)
    if isinstance(data, paddle.Tensor):
        result.name = data.name
    return result


def dtensor_from_fn(fn, mesh, placements, *args, **kwargs):
    """:func:`shard_tensor` of what ``fn(*args, **kwargs)`` returns."""
    return shard_tensor(fn(*args, **kwargs), mesh, placements)


def _not_in_programs(name) -> None:
    """A program speaks of wholes until it is partitioned: what is only a part has no place in it."""
    if _trace_api.tracing():
        raise _trace_api.graph_break_error()(f"[{name}] this rank's part of a tensor can't be captured in a program")


def dtensor_from_local(local_tensor, mesh, placements):
    """The distributed tensor of which ``local_tensor`` is this process's part (parts of one size)."""
    _not_in_programs("dtensor_from_local")
    shape = list(local_tensor.shape)
    for axis, p in enumerate(placements):
        if p.is_shard():
            shape[p.get_dim()] *= mesh.shape[axis]
    return _C_ops.dtensor_from_local(local_tensor, encode(mesh, placements, local_tensor.ndim), shape)


def dtensor_to_local(dist_tensor, mesh=None, placements=None):
    """This process's part as a plain tensor; gradients flow through.

    Args:
        mesh, placements: how the gradient lies, of which this rank's is its part; None: as ``dist_tensor``. A gradient may be
            Partial where the tensor is replicated; if they cut it otherwise, the tensor is moved there first.
    """
    _not_in_programs("dtensor_to_local")
    if not dist_tensor.is_dist():
        return dist_tensor
    own, lies = attr_of(dist_tensor)
    if mesh is None or placements is None:
        # The gradient of a sum is the same for all parts of it.
        mesh, placements = own, [Replicate() if p.is_partial() else p for p in lies]
    cuts = [[p if p.is_shard() else None for p in ps] for ps in (lies, placements)]
    if mesh != own or cuts[0] != cuts[1]:
        dist_tensor = reshard(dist_tensor, mesh, placements)
    text = encode(mesh, placements, dist_tensor.ndim)
    part = _dist.local_part(list(dist_tensor.shape), text, _dist.rank())
    if part is None:
        raise RuntimeError(
            f"[dtensor_to_local] rank {_dist.rank()} is outside the mesh {mesh} and has no part of the tensor"
        )
    return _C_ops.dtensor_to_local(dist_tensor, text, part[0])


def reshard(dist_tensor, mesh, placements):
    """The same value, distributed otherwise: moves what has to be moved."""
    return _place(dist_tensor, encode(mesh, placements, dist_tensor.ndim))


def reshard_axes(tensor, mesh, placements):
    """A tensor on ``mesh``, changed only along the mesh's dimensions for which there is a placement; None: it stays cut there as it
    is, also when it comes from another mesh of the same shape. With None for all a plain tensor stays plain.

    While a program is captured nothing lies anywhere yet: partitioning finds out how it was cut.
    """
    changes = "".join("0" if p is None else "1" for p in placements)
    text = encode(mesh, [Replicate() if p is None else p for p in placements], tensor.ndim)
    return _C_ops.reshard(tensor, f"~{changes}:{text}", _origin(tensor))


def sum_over_meshes(values):
    """The sum of scalars, distributed or plain. If they lie on several meshes, every rank of these gets it as a plain tensor."""
    by_mesh: dict = {}
    for value in values:
        attr = attr_of(value)
        by_mesh.setdefault(None if attr is None else attr[0], []).append(value)
    sums = {mesh: paddle.sum(paddle.stack(same)) for mesh, same in by_mesh.items()}
    if len(by_mesh) - (None in by_mesh) < 2:
        return paddle.add_n(list(sums.values()))
    ranks = sorted({i for mesh in sums if mesh is not None for i in mesh.process_ids})
    everyone = ProcessMesh(ranks)
    plain = [v if mesh is None else unshard_dtensor(reshard(v, everyone, [Replicate()])) for mesh, v in sums.items()]
    return paddle.add_n(plain)


def unshard_dtensor(dist_tensor):
    """The whole value as a plain tensor on every process of the mesh."""
    return _C_ops.reshard(dist_tensor, "", _origin(dist_tensor))


def _replicated(layer, mesh) -> None:
    everywhere = [Replicate() for _ in range(mesh.ndim)]
    for name, param in list(layer._parameters.items()):
        if param is not None and not param.is_dist():
            layer.add_parameter(name, shard_tensor(param, mesh, everywhere))
    for name, buffer in list(layer._buffers.items()):
        if buffer is not None and not buffer.is_dist():
            layer._buffers[name] = shard_tensor(buffer, mesh, everywhere)


def shard_layer(layer, process_mesh, shard_fn=None, input_fn=None, output_fn=None):
    """Makes a layer's parameters and buffers distributed, in place.

    Args:
        layer: the layer. process_mesh: ProcessMesh.
        shard_fn: ``shard_fn(name, sublayer, mesh)`` puts distributed parameters into a sublayer; what it leaves is replicated.
        input_fn: ``input_fn(inputs, mesh)`` changes the inputs of forward; output_fn likewise the outputs.
    """
    if not isinstance(process_mesh, ProcessMesh):
        raise ValueError("The argument `process_mesh` is not instance of `dist.ProcessMesh`.")
    for name, sublayer in layer.named_sublayers(include_self=True):
        if shard_fn is not None:
            shard_fn(name, sublayer, process_mesh)
        _replicated(sublayer, process_mesh)
    if input_fn is not None:
        layer.register_forward_pre_hook(lambda _, inputs: input_fn(inputs, process_mesh))
    if output_fn is not None:
        layer.register_forward_post_hook(lambda _, inputs, outputs: output_fn(outputs, process_mesh))
    return layer


# ---- attributes of tensors
def _placements(self):
    """One placement for each dimension of the mesh; None for a tensor that is not distributed."""
    attr = attr_of(self)
    return None if attr is None else list(attr[1])


def _process_mesh(self):
    """The mesh that the tensor is distributed over; None for a tensor that is not."""
    attr = attr_of(self)
    return None if attr is None else attr[0]


def _local_shape(self):
    text = _dist.attr(self)
    part = None if text is None else _dist.local_part(list(self.shape), text, _dist.rank())
    return list(self.shape) if text is None else ([0] if part is None else part[0])


def is_partial(tensor) -> bool:
    """Whether the tensor is Partial along some dimension of its mesh."""
    attr = attr_of(tensor)
    return attr is not None and any(isinstance(p, Partial) for p in attr[1])


def install() -> None:
    """Gives Tensor ``placements``, ``process_mesh``, ``_local_value()`` and ``_local_shape``."""
    cls = paddle.Tensor
    cls.placements = property(_placements)
    cls.process_mesh = property(_process_mesh)
    cls._local_shape = property(_local_shape)
    cls._local_value = lambda self: _dist.local_value(self)


install()
