"""Methods of Tensor that are functions of this package, in-place forms, and properties.

``install`` puts them onto the class; what the extension exports as a method stays, and gets its rarer forms from here.
"""

from __future__ import annotations

from .. import _core
from ..base import core
from ..base.core import _C_ops
from ..framework.size import TensorSize
from . import attribute, creation, indexing, linalg, logic, manipulation, math, random, search, stat
from ._common import Tensor, elsewhere, in_place, place_of

# Functions whose first argument is the tensor: methods under the same name.
_FUNCTIONS = """
add_n addmm argmax argmin argsort argwhere as_strided atleast_1d atleast_2d atleast_3d baddbmm block_diag bmm
broadcast_shape broadcast_shapes broadcast_tensors bucketize cdist chunk clamp clip combinations concat copysign
count_nonzero cross cummax cummin cumprod cumsum cumulative_trapezoid deg2rad diag diagflat diagonal_scatter diff dist
dot dsplit equal_all expand_as fill_diagonal_ fill_diagonal_tensor floor_divide frac frexp gammainc gammaincc gather
gather_nd gcd histogram histogram_bin_edges histogramdd hsplit hypot imag increment index_add index_fill index_put
index_select inner is_complex is_empty is_floating_point is_integer is_tensor isin isneginf isposinf isreal kron
kthvalue lcm ldexp lerp logaddexp logcumsumexp logit masked_fill masked_fill_ masked_scatter masked_select
matrix_transpose median mm moveaxis msort multigammaln multiplex mv nan_to_num nanmean nanmedian nanquantile
nansum narrow neg negative nonzero norm outer permute polar positive pow prod put_along_axis quantile rad2deg rank
ravel real renorm repeat_interleave reverse rot90 scale scatter scatter_add scatter_nd scatter_nd_add scatter_reduce
searchsorted select_scatter sgn shard_index signbit sinc slice slice_scatter sort split split_with_sizes stack std
strided_slice swapaxes swapdims t take take_along_axis take_along_dim tensor_split tensordot topk trace trapezoid
true_divide unflatten unfold unique unique_consecutive unstack vander var view view_as view_as_complex view_as_real
vsplit where pow_ clip_ clamp_ lerp_ cumsum_ cumprod_ nan_to_num_ frac_ gcd_ lcm_ hypot_ ldexp_ sinc_ renorm_
multigammaln_ addmm_ baddbmm_ gammainc_ gammaincc_ floor_divide_ logit_ copysign_ neg_ zero_ uniform_ normal_
log_normal_ exponential_ cauchy_ geometric_ bernoulli_ random_ resize_ repeat cov corrcoef multi_dot matrix_power
create_tensor
""".split()

_SOURCES = (math, manipulation, indexing, linalg, search, stat, logic, attribute, creation, random)

# Second names of operators and functions.
_ALIASES = {
    "sub_": "subtract_", "mul_": "multiply_", "div_": "divide_",
    "sub": "subtract", "mul": "multiply", "div": "divide", "mod": "remainder", "floor_mod": "remainder", "mod_":
    "remainder_", "floor_mod_": "remainder_", "eq": "equal", "ne": "not_equal", "lt": "less_than", "le":
    "less_equal", "gt": "greater_than", "ge": "greater_equal", "less": "less_than", "less_": "less_than_",
    "greater": "greater_than", "concatenate": "concat", "cat": "concat", "clamp": "clip", "bitwise_invert":
    "bitwise_not", "bitwise_invert_": "bitwise_not_", "arccos": "acos", "arcsin": "asin", "arctan": "atan",
    "arctan2": "atan2", "arccosh": "acosh", "arcsinh": "asinh", "arctanh": "atanh", "absolute": "abs",
    "broadcast_to": "expand",
}  # fmt: skip

# Operators that are public as they are, with the Python function that takes the forms their record doesn't.
_FORMS = {
    "add_": math.add_, "subtract_": math.subtract_, "multiply_": math.multiply_, "divide_": math.divide_,
    "scale_": math.scale_, "fill_": indexing.fill_, "bernoulli": random.bernoulli,
    "reshape": manipulation.reshape, "transpose": manipulation.transpose, "squeeze": manipulation.squeeze,
    "unsqueeze": manipulation.unsqueeze, "expand": manipulation.expand, "tile": manipulation.tile, "flip":
    manipulation.flip, "roll": manipulation.roll, "concat": manipulation.concat, "stack": manipulation.stack, "add":
    math.add_form, "subtract": math.subtract_form, "divide": math.divide_form, "mean": math.mean_form, "gather":
    indexing.gather, "scatter": indexing.scatter, "index_select": indexing.index_select, "masked_select":
    indexing.masked_select, "tensor_unfold": manipulation.unfold, "strided_slice": manipulation.strided_slice,
    "slice": manipulation.slice, "kthvalue": search.kthvalue, **logic.OUT_IN_PLACE,
}  # fmt: skip

_IN_PLACE_OF_RESULT = """
index_add index_fill index_put masked_fill masked_scatter put_along_axis scatter scatter_add where t transpose
polygamma digamma lgamma i0 gammaln erfinv logical_and logical_or logical_xor logical_not equal not_equal less_than
less_equal greater_than greater_equal bitwise_left_shift bitwise_right_shift tril triu cast fill_diagonal_tensor
""".split()


def _cast_method(name, dtype):
    def method(self):
        return self if self.dtype == dtype else _C_ops.cast(self, dtype)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"This tensor as {dtype}."
    return method


_CASTS = {
    "bfloat16": "bfloat16", "bool": "bool", "byte": "uint8", "cdouble": "complex128", "cfloat": "complex64", "char":
    "int8", "complex128": "complex128", "complex64": "complex64", "double": "float64", "float": "float32",
    "float16": "float16", "float32": "float32", "float64": "float64", "half": "float16", "int": "int32", "int16":
    "int16", "int32": "int32", "int64": "int64", "int8": "int8", "long": "int64", "short": "int16", "uint8":
    "uint8",
}  # fmt: skip


def type_as(self, other):
    """This tensor in the dtype of `other`."""
    return self.astype(other.dtype)


def _new(name, make):
    def method(self, size, *args, dtype=None, device=None, requires_grad=False, pin_memory=False):
        dtype = self.dtype if dtype is None else dtype
        shape = size if isinstance(size, (list, tuple, Tensor)) else [size]
        if args and name != "new_full":
            shape = [*shape, *args]
        out = make(shape, args, dtype, place_of(device) or self.place)
        out.stop_gradient = not requires_grad
        return out

    method.__name__ = method.__qualname__ = name
    method.__doc__ = "A new tensor of `size` with this one's dtype and device unless given."
    return method


new_empty = _new("new_empty", lambda shape, _, dtype, place: _C_ops.empty(shape, dtype, place))
new_zeros = _new("new_zeros", lambda shape, _, dtype, place: _C_ops.full(shape, 0, dtype, place))
new_ones = _new("new_ones", lambda shape, _, dtype, place: _C_ops.full(shape, 1, dtype, place))


def new_full(self, size, fill_value, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor of `size` filled with `fill_value`, with this one's dtype and device unless given."""
    return _new("new_full", lambda shape, a, d, p: _C_ops.full(shape, fill_value, d, p))(
        self, size, dtype=dtype, device=device, requires_grad=requires_grad
    )


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor of `data` with this one's dtype and device unless given."""
    place = place_of(device) or self.place
    return _core.to_tensor(data, self.dtype if dtype is None else dtype, place, not requires_grad)


def requires_grad_(self, requires_grad=True):
    """Sets ``requires_grad``; returns this tensor."""
    self.stop_gradient = not requires_grad
    return self


def stride(self, dim=None):
    """The distance in elements between neighbours along `dim`, or of all axes."""
    return self.strides if dim is None else self.strides[dim]


def get_device(self):
    """The index of the device, -1 on a CPU."""
    from ..framework.place import get_device as of

    return of(self)


def softmax(self, dim=None, dtype=None, *, axis=None, out=None):
    """``paddle.nn.functional.softmax`` along `dim` (the last axis by default)."""
    x = self if dtype is None else _C_ops.cast(self, dtype)
    along = dim if axis is None else axis
    return _C_ops.softmax(x, -1 if along is None else along)


def is_same_shape(self, y):
    """Whether `y` has the same shape."""
    return list(self.shape) == list(y.shape)


def set_(self, source=None, shape=None, stride=None, offset=0, name=None):
    """Makes this tensor look into the memory of `source` (nothing by default); `offset` in bytes."""
    if source is None:
        self._become(_C_ops.empty([0], self.dtype, None))
        return self
    shape = list(source.shape if shape is None else shape)
    if stride is None:
        stride = list(source.strides) if shape == list(source.shape) else _contiguous(shape)
    self._become(_C_ops.as_strided(source.detach(), shape, list(stride), offset // self.itemsize))
    return self


def _contiguous(shape):
    out, step = [], 1
    for n in reversed(shape):
        out.insert(0, step)
        step *= n
    return out


def cast_(self, dtype):
    """This tensor becomes itself in another dtype."""
    return self._write_back(_C_ops.cast(self, dtype))


def _slice(self, begin_idx, end_idx):
    return _C_ops.slice(self, [0], [begin_idx], [end_idx], [], [])


def _to(self, device=None, dtype=None, blocking=None, copy_tensor=None):
    moved = self.to(device=device, dtype=dtype)
    return moved.clone() if copy_tensor and moved is self else moved


def _numel(self):
    return self.size


def _clear_data(self):
    self._become(_C_ops.empty([0], self.dtype, None))


def _md5sum(self):
    import hashlib

    return hashlib.md5(self.numpy().tobytes()).hexdigest()


def __complex__(self):
    return complex(self.item())


def __dir__(self):
    return sorted(set(dir(type(self))) | set(getattr(self, "__dict__", {})))


def _shift(operator, swapped):
    def method(self, other):
        if not isinstance(other, (Tensor, int)):
            return NotImplemented
        other = other if isinstance(other, Tensor) else _C_ops.full([], other, self.dtype, None)
        return operator(other, self) if swapped else operator(self, other)

    return method


def _transposed(self):
    return _C_ops.transpose(self, list(range(self.ndim))[::-1])


def _matrix_transposed(self):
    return manipulation.swapaxes(self, -1, -2)


def _device_name(self):
    from ..framework.place import Device, place_name

    return Device(place_name(self.place))


_core_size = Tensor.size.__get__


def _size(self):
    """The number of elements; called as ``x.size()`` or ``x.size(1)``, the sizes."""
    count = _core_size(self)
    return TensorSize.of(self, count) if type(count) is int else count


def to_sparse_coo(self, sparse_dim):
    """The elements that aren't 0 as a sparse tensor by coordinates; axes from `sparse_dim` on stay dense."""
    from ..sparse.tensor import dense_to_coo

    return dense_to_coo(self, sparse_dim)


def to_sparse_csr(self):
    """The elements that aren't 0 of a matrix, or a batch of them, as a sparse tensor in compressed rows."""
    return to_sparse_coo(self, self.ndim).to_sparse_csr()


def _of_sparse(name):
    def method(self):
        raise ValueError(f"[Tensor.{name}] expected a sparse tensor, got a dense one of shape {list(self.shape)}")

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"``{name}`` of a sparse tensor (``paddle.sparse``); ValueError for a dense one."
    return method


def _block(self):
    """The block of the default program that holds it, in static mode."""
    from ..static import default_main_program

    return default_main_program().global_block()


_METHODS = {
    "to_sparse_coo": to_sparse_coo, "to_sparse_csr": to_sparse_csr,
    **{name: _of_sparse(name) for name in ("indices", "values", "crows", "cols", "nnz", "coalesce", "is_coalesced")},
    "type_as": type_as, "new_empty": new_empty, "new_zeros": new_zeros, "new_ones": new_ones, "new_full": new_full,
    "new_tensor": new_tensor,
    "requires_grad_": requires_grad_, "stride": stride, "get_device": get_device, "softmax": softmax,
    "is_same_shape": is_same_shape,
    "cast_": cast_, "set_": set_, "_slice": _slice, "_to": _to, "_numel": _numel, "_clear_data": _clear_data,
    "_md5sum": _md5sum, "__complex__": __complex__, "get_strides": lambda self: self.strides,
    "__lshift__": _shift(_C_ops.bitwise_left_shift, False), "__rlshift__": _shift(_C_ops.bitwise_left_shift, True),
    "__rshift__": _shift(_C_ops.bitwise_right_shift, False), "__rrshift__": _shift(_C_ops.bitwise_right_shift, True),
    "is_sparse": lambda self: False, "is_sparse_coo": lambda self: False, "is_sparse_csr": lambda self: False,
    "is_selected_rows": lambda self: False, "to_dense": lambda self: self,
    "_inplace_version": lambda self: self.inplace_version, "clone": lambda self: _C_ops.assign(self),
    "shape_tensor": attribute.shape,
}  # fmt: skip
del _METHODS["shape_tensor"]

_PROPERTIES = {
    "block": property(_block),
    "T": property(_transposed), "mT": property(_matrix_transposed), "device": property(_device_name), "size": property(_size),
    "is_cuda": property(lambda self: self.place.is_gpu_place()), "layout": property(lambda self: "NCHW"),
    "grad_": property(lambda self: self.grad), "H": property(lambda self: _C_ops.conj(_transposed(self))),
    "mH": property(lambda self: _C_ops.conj(_matrix_transposed(self))),
}  # fmt: skip


_DOCS = {
    "T": "The axes in reverse order.", "mT": "The last two axes exchanged.", "H": "The conjugate of ``T``.",
    "mH": "The conjugate of ``mT``.", "device": "The device's name, with ``type`` and ``index``.",
    "is_cuda": "Whether the elements are on a GPU.", "layout": "The order of axes: NCHW.", "grad_": "``grad``.",
    "get_strides": "``strides``.", "is_sparse": "Whether only some elements are stored.",
    "is_sparse_coo": "Whether elements are stored with their coordinates.",
    "is_sparse_csr": "Whether elements are stored by rows.", "is_selected_rows": "Whether only some rows are stored.",
    "to_dense": "All elements; itself if they are.", "clone": "A copy in memory of its own; gradients flow through.",
    "dim": "The number of axes.", "ndimension": "The number of axes.", "numel": "The number of elements, as a tensor.",
    "nbytes": "The bytes of all elements.",
}  # fmt: skip


def _documented(name, member):
    """``member``, with a docstring if it is one of ``_DOCS`` and has none."""
    if name in _DOCS and isinstance(member, property):
        return property(member.fget, member.fset, doc=member.__doc__ or _DOCS[name])
    if name in _DOCS and not member.__doc__:
        member.__doc__ = _DOCS[name]
    return member


# Methods that live in paddle.linalg, which is loaded when one is first called.
_LINALG = """
cholesky_inverse cholesky_solve cond eigvalsh lstsq lu lu_unpack ormqr pca_lowrank pinv qr solve svd_lowrank
""".split()


def _linalg_method(name):
    def method(self, *args, **kwargs):
        from .. import linalg as module

        return getattr(module, name)(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"``paddle.linalg.{name}`` of this tensor."
    return method


def _find(name):
    for module in _SOURCES:
        found = getattr(module, name, None)
        if found is not None:
            return found
    return None


def install() -> None:
    """Completes the class Tensor."""
    for name in _FUNCTIONS:
        setattr(Tensor, name, _find(name)) if name not in _FORMS else None
    for name, form in _FORMS.items():
        operator = getattr(_C_ops, name)
        operator.fallback = form
        if not hasattr(Tensor, name) and name != "tensor_unfold":
            setattr(Tensor, name, operator)
    for name in _LINALG:
        setattr(Tensor, name, _linalg_method(name))
    for name, dtype in _CASTS.items():
        setattr(Tensor, name, _cast_method(name, core.dtype_objects[dtype]))
    for table in (_METHODS, _PROPERTIES):
        for name, method in table.items():
            setattr(Tensor, name, method)
    for name in _IN_PLACE_OF_RESULT:
        if not hasattr(Tensor, name + "_"):
            function = getattr(Tensor, name, None) or getattr(_C_ops, name, None)
            if function is not None:
                setattr(Tensor, name + "_", in_place(function, name + "_"))
    for name, other in _ALIASES.items():
        if hasattr(Tensor, other):
            setattr(Tensor, name, getattr(Tensor, other))
    for name in _DOCS:
        if name in vars(Tensor):
            setattr(Tensor, name, _documented(name, vars(Tensor)[name]))
    for module in _SOURCES:
        module.__getattr__ = elsewhere(module.__name__)
