"""Moving a Layer between dtypes and places."""

from __future__ import annotations

import paddle

_PLACE_KINDS = ("CPUPlace", "CUDAPlace", "CUDAPinnedPlace", "XPUPlace", "CustomPlace")


def _place_of(device):
    """The place that `device` (str or place) means; ValueError for anything else."""
    if isinstance(device, str):
        return device
    kinds = tuple(k for k in (getattr(paddle, n, None) for n in _PLACE_KINDS) if isinstance(k, type))
    if isinstance(device, kinds) or hasattr(device, "is_cpu_place") or type(device).__name__ == "Place":
        return device
    raise ValueError(
        "device should be type of str, paddle.CPUPlace, paddle.CUDAPlace, paddle.CUDAPinnedPlace, paddle.XPUPlace, "
        f"or paddle.base.libpaddle.Place, but got {type(device).__name__}"
    )


def _dtype_name(dtype, error=ValueError):
    """A dtype in any spelling (str, paddle.dtype, numpy dtype or scalar type) as its bare name."""
    if isinstance(dtype, str):
        name = dtype.rsplit(".", 1)[-1]
    else:
        name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
        name = str(name).rsplit(".", 1)[-1].lower()
    if name not in _NAMES:
        raise error(
            "dtype value error, must be 'bfloat16', 'float16', 'float32', 'float64', 'int8', 'int16', 'int32', "
            f"'int64', 'uint8', 'complex64', 'complex128', 'bool', or paddle.dtype, numpy.dtype, but receive {dtype}"
        )
    return name


_NAMES = {
    "bfloat16", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "complex64",
    "complex128", "bool", "float8_e4m3fn", "float8_e5m2", "uint16", "uint32", "uint64",
}  # fmt: skip


def _convert(tensor, device, dtype):
    """Gives `tensor` new storage in place, so that optimizers and other holders of the same object follow."""
    value = tensor.detach()
    if dtype is not None and value.dtype != getattr(paddle, dtype):
        value = value.astype(dtype)
    if device is not None:
        value = value.to(device)
    if value.dtype != tensor.dtype or device is not None:
        tensor.data = value
        if tensor.grad is not None:
            gradient = tensor.grad.detach()
            if dtype is not None:
                gradient = gradient.astype(dtype)
            tensor.grad = gradient if device is None else gradient.to(device)


class ConvertMixin:
    """`to` and its relatives."""

    def _each_layer_but(self, excluded):
        excluded = _as_types_and_layers(excluded)
        for layer in self.sublayers(include_self=True):
            if not any(layer is e or (isinstance(e, type) and isinstance(layer, e)) for e in excluded):
                yield layer

    def _convert_tensors(self, device, dtype, floating_only, excluded=None, include_sublayers=True, shown=None):
        """``shown``: how the layers say afterwards what their dtype is (default: as a ``paddle.dtype``)."""
        layers = list(self._each_layer_but(excluded)) if include_sublayers else [self]
        for layer in layers:
            for table in (layer._parameters, layer._buffers):
                for tensor in table.values():
                    if tensor is not None:
                        cast = dtype if not floating_only or tensor.is_floating_point() else None
                        _convert(tensor, device, cast)
            if dtype is not None:
                layer._dtype = getattr(paddle, dtype) if shown is None else shown
        return self

    def _to_impl(self, device=None, dtype=None, blocking=None, non_blocking=None, include_sublayers=True,
                 floating_only=False):  # fmt: skip
        if device is None and dtype is None and blocking is None:
            return self
        if blocking is not None and not isinstance(blocking, bool):
            raise AssertionError("blocking value error, must be the True, False or None")
        device = None if device is None else _place_of(device)
        name = None if dtype is None else _dtype_name(dtype, TypeError)
        return self._convert_tensors(device, name, floating_only, None, include_sublayers, dtype)

    def to(self, device=None, dtype=None, blocking=None, non_blocking=None):
        """Moves every parameter and buffer to `device` and casts them to `dtype`, in place.

        Args:
            device (str | place, optional): where to; unchanged when None.
            dtype (dtype, optional): to what; unchanged when None.
            blocking, non_blocking (bool, optional): whether the copy waits.

        Returns:
            self.

        Raises:
            ValueError: `device` or `dtype` is none that exists.
        """
        return self._to_impl(device, dtype, blocking, non_blocking)

    def astype(self, dtype=None):
        """Casts every parameter and buffer to `dtype`, in place; returns self. ValueError if there is no such dtype."""
        return self if dtype is None else self._convert_tensors(None, _dtype_name(dtype), False)

    def type(self, dst_type):
        """Casts every parameter and buffer to `dst_type`; returns self."""
        return self.astype(dst_type)

    def float(self, excluded_layers=None):
        """Casts floating-point parameters and buffers to float32, except in `excluded_layers`; returns self."""
        return self._convert_tensors(None, "float32", True, excluded_layers)

    def double(self):
        """Casts floating-point parameters and buffers to float64; returns self."""
        return self._convert_tensors(None, "float64", True)

    def half(self):
        """Casts floating-point parameters and buffers to float16; returns self."""
        return self.float16()

    def float16(self, excluded_layers=None):
        """Casts floating-point parameters and buffers to float16, normalisation layers excepted by default."""
        return self._convert_tensors(None, "float16", True, _low_precision_exclusions(excluded_layers))

    def bfloat16(self, excluded_layers=None):
        """Casts floating-point parameters and buffers to bfloat16, normalisation layers excepted by default."""
        return self._convert_tensors(None, "bfloat16", True, _low_precision_exclusions(excluded_layers))

    def cpu(self):
        """Moves the layer to main memory; returns self."""
        return self.to(device="cpu")

    def cuda(self, device=None):
        """Moves the layer to a GPU (index, place, or the current one); returns self."""
        return self.to(device=_indexed("gpu", device))

    def xpu(self, device=None):
        """Moves the layer to an XPU (index, place, or the current one); returns self."""
        return self.to(device=_indexed("xpu", device))


def _indexed(kind, device):
    if device is None:
        return kind
    return f"{kind}:{device}" if isinstance(device, int) else device


def _as_types_and_layers(excluded):
    if excluded is None:
        return ()
    return tuple(excluded) if isinstance(excluded, (list, tuple)) else (excluded,)


def _low_precision_exclusions(excluded):
    """Statistics of batch norms are kept in float32 unless the caller says what to leave out."""
    if excluded is not None:
        return excluded
    from .norm import _BatchNormBase

    return _BatchNormBase
