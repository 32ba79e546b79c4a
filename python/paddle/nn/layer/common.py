"""Linear maps, embeddings, dropout, upsampling, and small helpers as layers."""

from __future__ import annotations

import paddle

from .. import functional as F
from .._alias import accepts
from .dropout import AlphaDropout, Dropout, Dropout2D, Dropout3D, FeatureAlphaDropout  # noqa: F401
from .axis import AxisAsDim
from .layers import Layer
from .padding import (  # noqa: F401
    CircularPad1D,
    CircularPad2D,
    CircularPad3D,
    ConstantPad1D,
    ConstantPad2D,
    ConstantPad3D,
    Pad1D,
    Pad2D,
    Pad3D,
    ReflectionPad1D,
    ReflectionPad2D,
    ReflectionPad3D,
    ReplicationPad1D,
    ReplicationPad2D,
    ReplicationPad3D,
    ZeroPad1D,
    ZeroPad2D,
    ZeroPad3D,
)

__all__ = []


class Identity(Layer):
    """Returns its input; takes and ignores any arguments."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Linear(Layer):
    """x @ weight + bias: [..., in] to [..., out].

    Args:
        in_features, out_features (int): sizes.
        weight_attr, bias_attr (ParamAttr | bool, optional): of `weight` [in, out] and `bias` [out]; False leaves the
            bias out.
        name (str, optional): for people.
    """

    def __init__(self, in_features, out_features, weight_attr=None, bias_attr=None, name=None):
        super().__init__()
        self._dtype = paddle.get_default_dtype()
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self.weight = self.create_parameter([in_features, out_features], attr=weight_attr, dtype=self._dtype)
        self.bias = self.create_parameter([out_features], attr=bias_attr, dtype=self._dtype, is_bias=True)
        self.name = name

    def forward(self, input):
        # Straight from the table: attribute look-up through __getattr__ costs more than a small matmul.
        parameters = self._parameters
        if "weight" in parameters and "bias" in parameters:
            return F.linear(input, parameters["weight"], parameters["bias"])
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        name = f", name={self.name}" if self.name else ""
        return f"in_features={self.weight.shape[0]}, out_features={self.weight.shape[1]}, dtype={self._dtype}{name}"


class Embedding(Layer):
    """Rows of a table by index: [...] integers to [..., embedding_dim].

    Args:
        num_embeddings, embedding_dim (int): the table's shape.
        padding_idx (int, optional): a row that is zero and stays so.
        max_norm (float, optional): rows that are used are shortened to this norm.
        norm_type (float): the p of that norm.
        scale_grad_by_freq (bool): divide a row's gradient by how often it occurs.
        sparse (bool): gradient as rows.
        _weight (Tensor, optional): the table itself; _freeze (bool): without gradient.
        device, dtype: where the table lives and of what type.
        weight_attr (ParamAttr, optional): of `weight`.

    Raises:
        ValueError: sizes are not positive, or `padding_idx` is out of range.
    """

    def __init__(
        self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, *,
        scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, device=None, dtype=None, weight_attr=None,
        name=None,
    ):  # fmt: skip
        super().__init__()
        if num_embeddings < 0:
            raise ValueError("num_embeddings must not be negative")
        if embedding_dim <= 0:
            raise ValueError("embedding_dim must be gather than 0")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(f"padding_idx must be within [-{num_embeddings}, {num_embeddings})")
        self._num_embeddings = num_embeddings
        self._embedding_dim = embedding_dim
        self._sparse = sparse
        self._scale_grad_by_freq = scale_grad_by_freq
        self._padding_idx = -1
        if padding_idx is not None:
            self._padding_idx = padding_idx if padding_idx >= 0 else num_embeddings + padding_idx
        self._given_padding_idx = padding_idx
        self._max_norm = max_norm
        self._norm_type = norm_type
        self._dtype = paddle.get_default_dtype() if dtype is None else dtype
        self._size = [num_embeddings, embedding_dim]
        self._weight_attr = weight_attr
        self._name = name
        if _weight is None:
            self.weight = self.create_parameter(self._size, attr=weight_attr, dtype=self._dtype, device=device)
        else:
            if list(_weight.shape) != self._size:
                raise ValueError(f"[Embedding] expected _weight of shape {self._size}, got {list(_weight.shape)}")
            self.weight = paddle.nn.Parameter(_weight)
        if _freeze:
            self.weight.stop_gradient = True
        if self._padding_idx != -1:
            with paddle.no_grad():
                self.weight[self._padding_idx] = 0.0

    @property
    def padding_idx(self):
        """The row that stays zero (int), or None."""
        return None if self._padding_idx == -1 else self._padding_idx

    @padding_idx.setter
    def padding_idx(self, value):
        self._padding_idx = -1 if value is None else value
        self._given_padding_idx = value

    @accepts(x="input")
    def forward(self, x):
        return F.embedding(
            x, self.weight, None if self._padding_idx == -1 else self._padding_idx, self._max_norm, self._norm_type,
            self._sparse, self._scale_grad_by_freq,
        )  # fmt: skip

    def extra_repr(self):
        text = f"{self._num_embeddings}, {self._embedding_dim}"
        if self._padding_idx != -1:
            text += f", padding_idx={self._given_padding_idx}"
        text += f", sparse={self._sparse}, scale_grad_by_freq={self._scale_grad_by_freq}"
        return text + (f", name={self._name}" if self._name is not None else "")


class Bilinear(Layer):
    """x1 W x2 + b: ([N, in1], [N, in2]) to [N, out]; `weight` is [out, in1, in2], `bias` [1, out]."""

    def __init__(self, in1_features, in2_features, out_features, weight_attr=None, bias_attr=None, name=None):
        super().__init__()
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._name = name
        self._in1_features = in1_features
        self._in2_features = in2_features
        self._out_features = out_features
        self._dtype = paddle.get_default_dtype()
        self.weight = self.create_parameter(
            [out_features, in1_features, in2_features], attr=weight_attr, dtype=self._dtype
        )
        self.bias = self.create_parameter([1, out_features], attr=bias_attr, dtype=self._dtype, is_bias=True)

    def forward(self, x1, x2):
        return F.bilinear(x1, x2, self.weight, self.bias, self._name)

    def extra_repr(self):
        name = f", name={self._name}" if self._name else ""
        return (
            f"in1_features={self._in1_features}, in2_features={self._in2_features}, "
            f"out_features={self._out_features}, dtype={self._dtype}{name}"
        )


class CosineSimilarity(AxisAsDim, Layer):
    """x1 · x2 / max(|x1| |x2|, `eps`) along `axis` (also called `dim`)."""

    @accepts(axis="dim")
    def __init__(self, axis=1, eps=1e-8):
        super().__init__()
        self._axis = axis
        self._eps = eps

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, axis=self._axis, eps=self._eps)

    def extra_repr(self):
        return "axis={_axis}, eps={_eps}".format(**self.__dict__)


class Flatten(Layer):
    """Joins the dimensions `start_axis` to `stop_axis`."""

    def __init__(self, start_axis=1, stop_axis=-1):
        super().__init__()
        self.start_axis = start_axis
        self.stop_axis = stop_axis

    @accepts(input="x")
    def forward(self, input):
        return paddle.flatten(input, start_axis=self.start_axis, stop_axis=self.stop_axis)


class Unflatten(Layer):
    """Splits dimension `axis` into `shape`."""

    def __init__(self, axis, shape, name=None):
        super().__init__()
        self.axis = axis
        self.shape = shape
        self.name = name

    def forward(self, input):
        return paddle.unflatten(input, axis=self.axis, shape=self.shape, name=self.name)

    def extra_repr(self):
        return f"axis={self.axis}, shape={self.shape}" + (f", name={self.name}" if self.name else "")


class Upsample(Layer):
    """`paddle.nn.functional.interpolate` as a layer; the same arguments and errors."""

    def __init__(
        self, size=None, scale_factor=None, mode="nearest", align_corners=False, align_mode=0, data_format=None,
        recompute_scale_factor=None, name=None,
    ):  # fmt: skip
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode.lower()
        self.align_corners = align_corners
        self.align_mode = align_mode
        self.data_format = data_format
        self.recompute_scale_factor = recompute_scale_factor
        self.name = name

    @accepts(x="input")
    def forward(self, x):
        return F.interpolate(
            x, size=self.size, scale_factor=self.scale_factor, mode=self.mode, align_corners=self.align_corners,
            align_mode=self.align_mode, data_format=self.data_format,
            recompute_scale_factor=self.recompute_scale_factor, name=self.name,
        )  # fmt: skip

    def extra_repr(self):
        how = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        name = f", name={self.name}" if self.name else ""
        return (
            f"{how}, mode={self.mode}, align_corners={self.align_corners}, align_mode={self.align_mode}, "
            f"data_format={self.data_format}{name}"
        )


class _Upsampling2D(Layer):
    def __init__(self, size=None, scale_factor=None, data_format="NCHW", name=None):
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.data_format = data_format
        self.name = name

    def _resize(self, x, mode, align_corners):
        if len(x.shape) != 4:
            raise ValueError(f"{type(self).__name__} only supports 4-D tensors, got {len(x.shape)}-D")
        return F.interpolate(
            x, size=self.size, scale_factor=self.scale_factor, mode=mode, align_corners=align_corners,
            data_format=self.data_format, name=self.name,
        )  # fmt: skip

    def extra_repr(self):
        how = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        return f"{how}, data_format={self.data_format}" + (f", name={self.name}" if self.name else "")


class UpsamplingNearest2D(_Upsampling2D):
    """Nearest-neighbour upsampling of [N, C, H, W] to `size` or by `scale_factor`."""

    def forward(self, x):
        return self._resize(x, "nearest", False)


class UpsamplingBilinear2D(_Upsampling2D):
    """Bilinear upsampling of [N, C, H, W], corners aligned, to `size` or by `scale_factor`."""

    @accepts(x="input")
    def forward(self, x):
        return self._resize(x, "bilinear", True)


class Unfold(Layer):
    """[N, C, H, W] to [N, C * k_h * k_w, L]: every patch as a column; arguments as `paddle.nn.functional.unfold`."""

    def __init__(self, kernel_sizes, dilations=1, paddings=0, strides=1, name=None):
        super().__init__()
        self.kernel_sizes = kernel_sizes
        self.dilations = dilations
        self.paddings = paddings
        self.strides = strides
        self.name = name

    def forward(self, input):
        return F.unfold(input, self.kernel_sizes, self.strides, self.paddings, self.dilations, self.name)

    def extra_repr(self):
        name = f", name={self.name}" if self.name else ""
        return (
            f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}, "
            f"stride={self.strides}{name}"
        )


class Fold(Layer):
    """[N, C * k_h * k_w, L] to [N, C, H, W]: adds patches up; arguments as `paddle.nn.functional.fold`."""

    @accepts(
        output_sizes="output_size",
        kernel_sizes="kernel_size",
        dilations="dilation",
        paddings="padding",
        strides="stride",
    )
    def __init__(self, output_sizes, kernel_sizes, dilations=1, paddings=0, strides=1, name=None):
        super().__init__()
        self.output_sizes = output_sizes
        self.kernel_sizes = kernel_sizes
        self.dilations = dilations
        self.paddings = paddings
        self.strides = strides
        self.name = name

    @accepts(input="x")
    def forward(self, input):
        return F.fold(
            input, self.output_sizes, self.kernel_sizes, self.strides, self.paddings, self.dilations, self.name
        )

    def extra_repr(self):
        name = f", name={self.name}" if self.name else ""
        return (
            f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}, "
            f"stride={self.strides}{name}"
        )


def _second_name(attribute):
    return property(
        lambda self: getattr(self, attribute),
        lambda self, value: setattr(self, attribute, value),
        doc=f"Another name of `{attribute}`.",
    )


for _short in ("output_size", "kernel_size", "dilation", "padding", "stride"):
    setattr(Fold, _short, _second_name(_short + "s"))
