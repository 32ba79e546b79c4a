"""Recompute within a tensor-parallel group."""

from __future__ import annotations

from ....base import core
from .recompute import recompute

__all__ = ["recompute_hybrid"]


class _Part:
    """This rank's part of a tensor that every rank of a group has; the whole is gathered when it is asked for."""

    def __init__(self, tensor, group) -> None:
        self._shape, self._group, self._stop = tensor.shape, group, tensor.stop_gradient
        flat = tensor.detach().reshape([-1])
        size = flat.shape[0] // group.nranks
        self._part = flat[group.rank * size : (group.rank + 1) * size].clone()

    def whole(self):
        from ... import all_gather

        parts: list = []
        all_gather(parts, self._part, group=self._group)
        tensor = core.concat(parts).reshape(self._shape)
        tensor.stop_gradient = self._stop
        return tensor


def recompute_hybrid(ctx, function, *args, **kwargs):
    """``recompute`` in a tensor-parallel job.

    Args:
        ctx: ``{"mp_group": the group (required), "offload": keep arguments in host memory (default False), "partition":
            each rank of the group keeps its part of the arguments only (default False)}``.
        function, args, kwargs: as ``recompute`` takes them.

    Raises:
        AssertionError: ``ctx`` has no group.
    """
    group = ctx.get("mp_group", None)
    assert group is not None, "ctx must contains mp_group and mp_group can not be None."
    if not ctx.get("partition", False) or group.nranks < 2 or not core.grad_enabled():
        return recompute(function, *args, **kwargs)
    from ....autograd.hooks import saved_tensors_hooks

    def pack(tensor):
        return _Part(tensor, group) if tensor.size and tensor.size % group.nranks == 0 else tensor

    def unpack(item):
        return item.whole() if isinstance(item, _Part) else item

    # The arguments of a recompute go through the hooks around it.
    with saved_tensors_hooks(pack, unpack):
        return recompute(function, *args, **kwargs)
