"""Functions with a gradient of their own.

``_core.py_layer_apply(cls, ctx, tensors, run)`` calls ``run()`` without recording and gives the outputs, where one of
``tensors`` needs a gradient, a node that calls ``ctx._run_backward(grads)`` in the backward pass.
"""

from __future__ import annotations

from ..base import core
from .hooks import current_hooks

__all__ = ["PyLayer", "PyLayerContext"]


class PyLayerContext:
    """What forward and backward share; any attribute may be set on it."""

    _saved = ()
    _unpack = None
    _materialize = True
    _dtype_consistent = True
    _own_outputs = ()
    _backward = None  # in a captured program: as the trace calls it

    def save_for_backward(self, *tensors) -> None:
        """Keeps tensors (or nests of them) for backward. ``saved_tensors_hooks`` in force now apply to each tensor."""
        pack, self._unpack = current_hooks()
        if pack is not None:
            tensors = [pack(t) if isinstance(t, core.Tensor) else _Kept(t) for t in tensors]
        self._saved = tuple(tensors)

    def saved_tensor(self) -> tuple | None:
        """What ``save_for_backward`` kept; None where it kept nothing."""
        if not self._saved:
            return None
        if self._unpack is None:
            return self._saved
        return tuple(item.value if isinstance(item, _Kept) else self._unpack(item) for item in self._saved)

    def mark_not_inplace(self, *args) -> None:
        """Says that these inputs, returned as outputs, are to count as new tensors."""
        self.not_inplace_tensors = args

    def mark_non_differentiable(self, *args) -> None:
        """Says that no gradient flows to these outputs."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (True, the default) or None for an output that received no gradient."""
        self._materialize = bool(value)

    def set_grad_in_dtype_consistent(self, flag: bool) -> None:
        """Whether gradients are cast to the dtype of the output they belong to (the default)."""
        self._dtype_consistent = bool(flag)

    not_inplace_tensors = ()
    non_differentiable = ()

    @property
    def materialize_grads(self) -> bool:
        """Whether outputs without a gradient give backward zeros rather than None."""
        return self._materialize

    @property
    def grad_in_dtype_consistent(self) -> bool:
        """Whether gradients are cast to their outputs' dtype."""
        return self._dtype_consistent

    @property
    def container(self) -> tuple:
        """What was saved, as it was packed."""
        return self._saved

    # ---- called by the extension ------------------------------------------------------------------------------------
    @staticmethod
    def _flat(result) -> list:
        flat: list = []
        _flatten(result, flat)
        return flat

    def _unlink(self, outputs) -> None:
        """Puts tensors without a history in the place of outputs among the attributes (``save_for_backward``, or set by hand):
        an output's history leads to this context. The extension lends it to them while backward is recorded."""
        at = {id(t): i for i, t in enumerate(outputs) if self._is_differentiable(t)}
        twins: dict = {}

        def twin(value):
            index = at.get(id(value))
            if index is None:
                return value
            if index not in twins:
                twins[index] = value.detach()
            return twins[index]

        for name, value in list(self.__dict__.items()):
            if name in ("_needs", "_outputs", "non_differentiable", "not_inplace_tensors"):
                continue
            if id(value) in at:
                self.__dict__[name] = twin(value)
            elif type(value) in (tuple, list) and any(id(item) in at for item in value):
                self.__dict__[name] = type(value)(twin(item) for item in value)
        if twins:
            self._own_outputs = list(twins.items())

    def _is_differentiable(self, tensor) -> bool:
        return all(tensor is not other for other in self.non_differentiable)

    def _run_backward(self, grads):
        """Gradients of the tensor arguments of ``apply`` from those of the tensor outputs."""
        prepared = [self._prepare(i, g) for i, g in enumerate(grads)]
        result = (self._backward or type(self)._layer.backward)(self, *prepared)
        result = list(result) if isinstance(result, (list, tuple)) else [result]
        wanted = self._needs
        if len(result) == len(wanted):
            return result
        # Backward may leave out the gradients of inputs that need none.
        if len(result) == sum(wanted):
            given = iter(result)
            return [next(given) if need else None for need in wanted]
        raise ValueError(
            f"[PyLayer] {type(self)._layer.__name__}.backward returned {len(result)} gradients, "
            f"expected {len(wanted)}, one for each tensor that forward took"
        )

    def _prepare(self, index, grad):
        shape, dtype = self._outputs[index]
        if grad is None:
            return core.full(shape, 0.0, dtype) if self._materialize else None
        if self._dtype_consistent and grad.dtype != dtype:
            grad = grad.astype(dtype)
        return grad


class _Kept:
    """Something saved that is no tensor, beside packed tensors."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


def _flatten(value, out) -> None:
    if isinstance(value, core.Tensor):
        out.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _flatten(item, out)
    elif isinstance(value, dict):
        for item in value.values():
            _flatten(item, out)


def _replace(value, ids):
    """A nest with fresh handles in place of the tensors whose ``id`` is given."""
    if isinstance(value, core.Tensor):
        return value.detach() if id(value) in ids else value
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(_replace(item, ids) for item in value)
    return value


class _LayerMeta(type):
    """Gives every PyLayer class a context class that knows it."""

    def __init__(cls, name, bases, namespace):
        super().__init__(name, bases, namespace)
        cls._context = type(name + "Backward", (PyLayerContext,), {"_layer": cls})


class PyLayer(metaclass=_LayerMeta):
    """Base class: define static methods ``forward(ctx, *args, **kwargs)`` and ``backward(ctx, *grads)``; call
    ``apply``. ``backward`` gets one gradient per tensor output and returns one per tensor argument."""

    @staticmethod
    def forward(ctx, *args, **kwargs):
        """The function: gets a context and what ``apply`` was given. To be written by the subclass."""
        raise NotImplementedError("You must implement the forward function for PyLayer.")

    @staticmethod
    def backward(ctx, *args):
        """Its gradient: gets the context and a gradient for each output. To be written by the subclass."""
        raise NotImplementedError("You must implement the backward function for PyLayer.")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Runs ``forward``, and records ``backward`` if a tensor argument needs a gradient."""
        ctx = cls._context()
        tensors = []
        _flatten(args, tensors)
        _flatten(kwargs, tensors)
        ctx._needs = [not t.stop_gradient for t in tensors]

        versions = [t.inplace_version for t in tensors]
        forward = cls.forward
        capturing = core._core.trace.tracing()
        if capturing:
            from ..jit.custom_gradient import converted

            forward, ctx._backward = converted(forward), converted(cls.backward)

        def run():
            outputs = forward(ctx, *args, **kwargs)
            # An input that comes back unwritten is a new tensor of the same values; one written in place stays itself.
            same = {id(t) for t, v in zip(tensors, versions) if t.inplace_version == v}
            same.update(id(t) for t in ctx.not_inplace_tensors)
            outputs = _replace(outputs, same)
            flat = []
            _flatten(outputs, flat)
            ctx._outputs = [(t.shape, t.dtype) for t in flat]
            if not capturing:
                ctx._unlink(flat)
            return outputs

        return core._core.py_layer_apply(cls, ctx, tensors, run)


class Function(PyLayer):
    """``PyLayer`` under the name that other frameworks use."""


def once_differentiable(backward):
    """A backward that runs unrecorded, so that its result can't be differentiated again."""
    import functools

    from .grad_mode import no_grad

    @functools.wraps(backward)
    def wrapper(ctx, *args):
        with no_grad():
            return backward(ctx, *args)

    return wrapper
