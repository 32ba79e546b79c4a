"""One call whose intermediate tensors are not kept: the backward pass runs the function again when it needs the first of
them. It works through the hooks on saved tensors, so it holds for every gradient that goes through the call:
``backward()``, ``paddle.grad``, parameters that the function uses, and derivatives of higher order."""

from __future__ import annotations

import weakref

from ....autograd.hooks import current_hooks, saved_tensors_hooks
from ....base import core
from .state import Surroundings

__all__ = ["run_without_keeping"]


class _Promise:
    """Stands in the graph for a tensor that was not kept."""

    __slots__ = ("value", "__weakref__")

    def __init__(self) -> None:
        self.value = None


class _Packed:
    """An argument that an enclosing recompute keeps, or computes again, in its own way."""

    __slots__ = ("item", "unpack", "stop_gradient")

    def __init__(self, item, unpack, stop_gradient) -> None:
        self.item, self.unpack, self.stop_gradient = item, unpack, stop_gradient


def _map(value, change):
    """A nest of lists, tuples and dicts with ``change`` applied to what it holds."""
    if type(value) in (list, tuple):
        return type(value)(_map(item, change) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_map(item, change) for item in value))
    if type(value) is dict:
        return {key: _map(item, change) for key, item in value.items()}
    return change(value)


class _Argument:
    """A tensor argument, and the version of its elements that the function saw."""

    __slots__ = ("tensor", "version")

    def __init__(self, tensor) -> None:
        self.tensor, self.version = tensor, tensor.inplace_version

    def get(self):
        if self.tensor.inplace_version != self.version:
            raise RuntimeError(
                f"[recompute] an argument of shape {list(self.tensor.shape)} was overwritten by an in-place operator after "
                f"the function read it (it is at version {self.tensor.inplace_version}, expected {self.version}), so "
                "the function can't be run again; pass a copy, or use the out-of-place operator"
            )
        return self.tensor


class _Frame:
    def __init__(self, function, args, kwargs, preserve_rng_state) -> None:
        self._function = function
        self._arguments = _map((args, kwargs), self._keep)
        self._surroundings = Surroundings(preserve_rng_state)
        self._promises: list = []  # weak: a part of the graph may be gone already
        self._shapes: list = []

    @staticmethod
    def _keep(value):
        if not isinstance(value, core.Tensor):
            return value
        pack, unpack = current_hooks()
        if pack is None:
            return _Argument(value)
        recording = core.set_grad_enabled(False)
        try:
            return _Packed(pack(value), unpack, value.stop_gradient)
        finally:
            core.set_grad_enabled(recording)

    @staticmethod
    def _give(value):
        if isinstance(value, _Argument):
            return value.get()
        if isinstance(value, _Packed):
            tensor = value.unpack(value.item)
            if tensor.stop_gradient != value.stop_gradient:  # what comes back has no history, but counts as it did
                tensor = tensor.detach()
                tensor.stop_gradient = value.stop_gradient
            return tensor
        return value

    # ---- the hooks of the first run
    def pack(self, tensor):
        promise = _Promise()
        self._promises.append(weakref.ref(promise))
        self._shapes.append((tuple(tensor.shape), tensor.dtype))
        return promise

    def unpack(self, promise):
        if promise.value is None:
            self._run_again()
        value, promise.value = promise.value, None
        if value is None:
            raise RuntimeError("[recompute] a tensor that backward needs was not made when the function ran again")
        return value

    def _run_again(self) -> None:
        count = 0

        def fulfil(tensor):
            nonlocal count
            if count < len(self._promises):
                made = (tuple(tensor.shape), tensor.dtype)
                if made != self._shapes[count]:
                    raise RuntimeError(
                        f"[recompute] the function did something else when it ran again: expected it to save a tensor of "
                        f"shape and dtype {self._shapes[count]}, got {made}"
                    )
                promise = self._promises[count]()
                if promise is not None:
                    # Leaves as they are, for their gradients' sake; else without the history of this second run.
                    promise.value = tensor if tensor.is_leaf else tensor.detach()
            count += 1

        def refuse(_):
            raise RuntimeError("[recompute] the second run's own graph was used")

        args, kwargs = _map(self._arguments, self._give)
        with self._surroundings.restored(), saved_tensors_hooks(fulfil, refuse):
            self._function(*args, **kwargs)
        if count != len(self._promises):
            raise RuntimeError(
                f"[recompute] the function did something else when it ran again: expected it to save "
                f"{len(self._promises)} tensors, got {count}"
            )


def run_without_keeping(function, args, kwargs, preserve_rng_state):
    frame = _Frame(function, args, kwargs, preserve_rng_state)
    with saved_tensors_hooks(frame.pack, frame.unpack):
        return function(*args, **kwargs)
