"""Normalisation layers. Formulas and sources stand with the functions in `paddle.nn.functional`."""

from __future__ import annotations

import numbers

import paddle

from .. import functional as F
from .._alias import accepts
from ..initializer import Constant, Normal
from .batch_norm import (  # noqa: F401
    BatchNorm,
    BatchNorm1D,
    BatchNorm2D,
    BatchNorm3D,
    SyncBatchNorm,
    _BatchNormBase,
)
from .layers import Layer

__all__ = []


class _InstanceNormBase(Layer):
    _ranks = ()

    def __init__(
        self, num_features, epsilon=1e-5, momentum=0.9, weight_attr=None, bias_attr=None, data_format="NCHW", name=None
    ):
        super().__init__()
        if (weight_attr is False) != (bias_attr is False):
            raise AssertionError("weight_attr and bias_attr must be set to False at the same time in InstanceNorm")
        self._momentum = momentum
        self._epsilon = epsilon
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._num_features = num_features
        self._data_format = data_format
        self._name = name
        if weight_attr is not False:
            self.scale = self.create_parameter([num_features], attr=weight_attr, default_initializer=Constant(1.0))
            self.bias = self.create_parameter([num_features], attr=bias_attr, is_bias=True)
        else:
            self.scale = None
            self.bias = None

    def _check_input_dim(self, input):
        if len(input.shape) not in self._ranks:
            ranks = " or ".join(f"{r}D" for r in self._ranks)
            raise ValueError(f"expected {ranks} input (got {len(input.shape)}D input)")

    def forward(self, input):
        self._check_input_dim(input)
        return F.instance_norm(
            input, weight=self.scale, bias=self.bias, momentum=self._momentum, eps=self._epsilon,
            data_format=self._data_format,
        )  # fmt: skip

    def extra_repr(self):
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


class InstanceNorm1D(_InstanceNormBase):
    """Normalises each channel of each sample of [N, C, L] or [N, C]; `scale` and `bias` are [C]."""

    _ranks = (2, 3)

    def __init__(
        self,
        num_features,
        epsilon=0.00001,
        momentum=0.9,
        weight_attr=None,
        bias_attr=None,
        data_format="NCL",
        name=None,
    ):
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class InstanceNorm2D(_InstanceNormBase):
    """Normalises each channel of each sample of [N, C, H, W]; `scale` and `bias` are [C]."""

    _ranks = (4,)

    def __init__(
        self,
        num_features,
        epsilon=0.00001,
        momentum=0.9,
        weight_attr=None,
        bias_attr=None,
        data_format="NCHW",
        name=None,
    ):
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class InstanceNorm3D(_InstanceNormBase):
    """Normalises each channel of each sample of [N, C, D, H, W]; `scale` and `bias` are [C]."""

    _ranks = (5,)

    def __init__(
        self,
        num_features,
        epsilon=0.00001,
        momentum=0.9,
        weight_attr=None,
        bias_attr=None,
        data_format="NCDHW",
        name=None,
    ):
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class GroupNorm(Layer):
    """Normalises groups of channels of [N, C, ...].

    Args:
        num_groups, num_channels (int): the first divides the second.
        epsilon (float): `eps` is a second name.
        affine (bool): False leaves `weight` and `bias` ([C]) out.
        device, dtype: of the parameters.
        weight_attr, bias_attr (ParamAttr | bool, optional): of the parameters.
        data_format (str): NCL, NCHW, NCDHW, NLC, NHWC, NDHWC.
    """

    @accepts(epsilon="eps")
    def __init__(
        self, num_groups, num_channels, epsilon=1e-05, *, affine=True, device=None, dtype=None, weight_attr=None,
        bias_attr=None, data_format="NCHW", name=None,
    ):  # fmt: skip
        super().__init__()
        if data_format not in ("NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC"):
            raise ValueError(f"unsupported data layout: {data_format}")
        if not affine:
            weight_attr = bias_attr = False
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._epsilon = epsilon
        self._num_channels = num_channels
        self._num_groups = num_groups
        self._data_format = data_format
        one = Constant(1.0)
        self.weight = self.create_parameter(
            [num_channels], attr=weight_attr, dtype=dtype, device=device, default_initializer=one
        )
        self.bias = self.create_parameter([num_channels], attr=bias_attr, dtype=dtype, device=device, is_bias=True)

    def forward(self, input):
        return F.group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self):
        return f"num_groups={self._num_groups}, num_channels={self._num_channels}, epsilon={self._epsilon}"


class LayerNorm(Layer):
    """Normalises the last dimensions.

    Args:
        normalized_shape (int | list | tuple): those dimensions.
        epsilon (float): `eps` is a second name.
        elementwise_affine (bool): False leaves `weight` and `bias` out.
        bias (bool): False leaves only the bias out.
        device, dtype: of the parameters.
        weight_attr, bias_attr (ParamAttr | bool, optional): of the parameters, 1-D of the product of the sizes.
    """

    @accepts(epsilon="eps")
    def __init__(
        self, normalized_shape, epsilon=1e-05, *, elementwise_affine=True, bias=True, device=None, dtype=None,
        weight_attr=None, bias_attr=None, name=None,
    ):  # fmt: skip
        super().__init__()
        if isinstance(normalized_shape, numbers.Integral):
            normalized_shape = [normalized_shape]
        if not elementwise_affine:
            weight_attr = bias_attr = False
        elif not bias:
            bias_attr = False
        self._normalized_shape = list(normalized_shape)
        self._epsilon = epsilon
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        size = 1
        for s in self._normalized_shape:
            size *= s
        dtype = paddle.get_default_dtype() if dtype is None else dtype
        self.weight = self.create_parameter(
            [size], attr=weight_attr, dtype=dtype, device=device, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter([size], attr=bias_attr, dtype=dtype, device=device, is_bias=True)

    def forward(self, input):
        return F.layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)

    def extra_repr(self):
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class LocalResponseNorm(Layer):
    """Divides by the activity of neighbouring channels; arguments as the function."""

    def __init__(self, size, alpha=0.0001, beta=0.75, k=1.0, data_format="NCHW", name=None):
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k
        self.data_format = data_format
        self.name = name

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k, self.data_format, self.name)

    def extra_repr(self):
        text = f"size={self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
        if self.data_format != "NCHW":
            text += f", data_format={self.data_format}"
        return text + (f", name={self.name}" if self.name is not None else "")


class SpectralNorm(Layer):
    """Divides a weight by its largest singular value, found by power iteration from two fixed random vectors.

    Args:
        weight_shape (sequence of int): of the weight that `forward` gets.
        dim (int): the dimension that makes the rows.
        power_iters (int): iterations a call.
        eps (float): lower bound of norms.
        dtype (dtype): of the iteration's vectors.

    Source: Miyato et al., 2018 (https://arxiv.org/abs/1802.05957).
    """

    def __init__(self, weight_shape, dim=0, power_iters=1, eps=1e-12, dtype="float32"):
        super().__init__()
        self._power_iters = power_iters
        self._epsilon = eps
        self._dim = dim
        self._dtype = dtype
        self._weight_shape = list(weight_shape)
        assert all(s > 0 for s in self._weight_shape), "Any dimension of input `weight_shape` should be greater than 0."
        height = self._weight_shape[dim]
        width = 1
        for i, size in enumerate(self._weight_shape):
            width *= size if i != dim else 1
        self.weight_u = self.create_parameter([height], dtype=dtype, default_initializer=Normal(0.0, 1.0))
        self.weight_u.stop_gradient = True
        self.weight_v = self.create_parameter([width], dtype=dtype, default_initializer=Normal(0.0, 1.0))
        self.weight_v.stop_gradient = True

    def forward(self, x):
        order = [self._dim] + [i for i in range(len(self._weight_shape)) if i != self._dim]
        matrix = paddle.transpose(x, order) if self._dim != 0 else x
        matrix = matrix.reshape([self._weight_shape[self._dim], -1])
        with paddle.no_grad():
            u, v, fixed = self.weight_u.detach(), self.weight_v.detach(), matrix.detach()
            for _ in range(self._power_iters):
                v = paddle.matmul(fixed, u, transpose_x=True)
                v = v / (paddle.norm(v) + self._epsilon)
                u = paddle.matmul(fixed, v)
                u = u / (paddle.norm(u) + self._epsilon)
        return x / paddle.sum(u * paddle.matmul(matrix, v))
