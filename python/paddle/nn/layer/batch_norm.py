"""Batch normalisation."""

from __future__ import annotations

import functools
import warnings

import paddle

from .. import functional as F
from .._param_attr import ParamAttr
from ..initializer import Constant
from .layers import Layer

__all__ = []

_FORMATS = {
    1: ("NC", "NCL", "NLC"),
    2: ("NCHW", "NHWC"),
    3: ("NCDHW", "NDHWC"),
    None: ("NC", "NCL", "NLC", "NCHW", "NHWC", "NCDHW", "NDHWC"),
}


class _BatchNormBase(Layer):
    """Weight, bias, and the running mean and variance, which are buffers that `state_dict` holds."""

    _ranks = None
    _spatial = None

    def __init__(
        self, num_features, momentum=0.9, epsilon=1e-5, weight_attr=None, bias_attr=None, data_format="NCHW",
        use_global_stats=None, name=None,
    ):  # fmt: skip
        super().__init__()
        self._num_features = num_features
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._use_global_stats = use_global_stats
        self._dtype = "float64" if paddle.get_default_dtype() == "float64" else "float32"
        one, shape = Constant(1.0), [num_features]
        self.weight = self.create_parameter(shape, attr=weight_attr, dtype=self._dtype, default_initializer=one)
        self.bias = self.create_parameter(shape, attr=bias_attr, dtype=self._dtype, is_bias=True)
        self._statistics(
            shape, f"{name}_mean" if name is not None else None, f"{name}_variance" if name is not None else None
        )
        if data_format not in _FORMATS[None]:
            raise ValueError(f"expected one of {_FORMATS[self._spatial]} for input, got {data_format}")
        self._data_format = data_format
        self._check_data_format()
        self._in_place = False
        self._momentum = momentum
        self._epsilon = epsilon
        self._fuse_with_relu = False
        self._name = name

    def _statistics(self, shape, mean_name, variance_name, averaged=True):
        for attribute, name, start in (("_mean", mean_name, 0.0), ("_variance", variance_name, 1.0)):
            value = self.create_parameter(
                shape, dtype=self._dtype,
                attr=ParamAttr(name=name, initializer=Constant(start), trainable=False, do_model_average=averaged),
            )  # fmt: skip
            value.stop_gradient = True
            setattr(self, attribute, value)

    def _check_input_dim(self, input):
        if self._ranks is not None and len(input.shape) not in self._ranks:
            ranks = " or ".join(f"{r}D" for r in self._ranks)
            raise ValueError(f"expected {ranks} input (got {len(input.shape)}D input)")

    def _check_data_format(self):
        if self._data_format not in _FORMATS[self._spatial]:
            raise ValueError(
                f"expected {' or '.join(_FORMATS[self._spatial])} for data_format input, got {self._data_format}"
            )

    def forward(self, input):
        self._check_input_dim(input)
        if self.training and self._use_global_stats:
            warnings.warn("When training, we now always track global mean and variance.")
        return F.batch_norm(
            input, self._mean, self._variance, self.weight, self.bias, self.training, self._momentum, self._epsilon,
            self._data_format, self._use_global_stats,
        )  # fmt: skip

    def extra_repr(self):
        text = f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}"
        if self._data_format != "NCHW":
            text += f", data_format={self._data_format}"
        return text + (f", name={self._name}" if self._name is not None else "")


class BatchNorm1D(_BatchNormBase):
    """Batch normalisation of [N, C], [N, C, L] or [N, L, C].

    Args:
        num_features (int): C.
        momentum (float): share of the old running statistics that is kept at every step.
        epsilon (float): added to the variance.
        weight_attr, bias_attr (ParamAttr | bool, optional): of `weight` and `bias` [C]; False leaves them out.
        data_format (str): NC, NCL or NLC.
        use_global_stats (bool, optional): normalise with the running statistics; None does so outside training.
    """

    _ranks = (2, 3)
    _spatial = 1

    def __init__(
        self, num_features, momentum=0.9, epsilon=1e-05, weight_attr=None, bias_attr=None, data_format="NCL",
        use_global_stats=None, name=None,
    ):  # fmt: skip
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)


class BatchNorm2D(_BatchNormBase):
    """Batch normalisation of [N, C, H, W] (or "NHWC"); arguments as `BatchNorm1D`."""

    _ranks = (4,)
    _spatial = 2


class BatchNorm3D(_BatchNormBase):
    """Batch normalisation of [N, C, D, H, W] (or "NDHWC"); arguments as `BatchNorm1D`."""

    _ranks = (5,)
    _spatial = 3

    def __init__(
        self, num_features, momentum=0.9, epsilon=1e-05, weight_attr=None, bias_attr=None, data_format="NCDHW",
        use_global_stats=None, name=None,
    ):  # fmt: skip
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)


class BatchNorm(_BatchNormBase):
    """Batch normalisation of any rank with an optional activation (the interface of Paddle 1.x).

    Args:
        num_channels (int): C.
        act (str, optional): an activation of `paddle.nn.functional` applied to the result.
        is_test (bool): start in evaluation mode.
        param_attr, bias_attr (ParamAttr | bool, optional): of `weight` and `bias`.
        dtype (dtype): of the parameters.
        data_layout (str): NCHW or NHWC.
        moving_mean_name, moving_variance_name (str, optional): names of the statistics.
        Others as `BatchNorm1D`.
    """

    def __init__(
        self, num_channels, act=None, is_test=False, momentum=0.9, epsilon=1e-05, param_attr=None, bias_attr=None,
        dtype="float32", data_layout="NCHW", in_place=False, moving_mean_name=None, moving_variance_name=None,
        do_model_average_for_mean_and_var=True, use_global_stats=False, trainable_statistics=False,
    ):  # fmt: skip
        Layer.__init__(self)
        assert bias_attr is not False, "bias_attr should not be False in batch_norm."
        self._param_attr = param_attr
        self._bias_attr = bias_attr
        self._num_features = num_channels
        self._act = act
        self._dtype = "float32" if str(dtype).rsplit(".", 1)[-1] == "float16" else dtype
        shape = [num_channels]
        self.weight = self.create_parameter(
            shape, attr=param_attr, dtype=self._dtype, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter(shape, attr=bias_attr, dtype=self._dtype, is_bias=True)
        self.weight.stop_gradient = bool(use_global_stats) and getattr(param_attr, "learning_rate", 1.0) == 0.0
        self.bias.stop_gradient = bool(use_global_stats) and getattr(bias_attr, "learning_rate", 1.0) == 0.0
        self._statistics(shape, moving_mean_name, moving_variance_name, do_model_average_for_mean_and_var)
        self._in_place = in_place
        self._data_layout = self._data_format = data_layout
        self._momentum = momentum
        self._epsilon = epsilon
        self._is_test = is_test
        self._fuse_with_relu = False
        self._use_global_stats = use_global_stats
        self._trainable_statistics = trainable_statistics
        self.training = not is_test

    def forward(self, input):
        training = self.training or self._trainable_statistics
        out = F.batch_norm(
            input, self._mean, self._variance, self.weight, self.bias, training, self._momentum, self._epsilon,
            self._data_layout, self._use_global_stats if self.training else None,
        )  # fmt: skip
        return out if self._act is None else getattr(F, self._act)(out)

    def extra_repr(self):
        return ""


class SyncBatchNorm(_BatchNormBase):
    """Batch normalisation whose statistics are taken over all processes of the data-parallel group.

    Alone in its group it is the batch normalisation of its input.
    """

    def __init__(
        self, num_features, momentum=0.9, epsilon=1e-05, weight_attr=None, bias_attr=None, data_format="NCHW", name=None
    ):
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)

    def _check_data_format(self):
        if self._data_format not in _FORMATS[None]:
            raise ValueError(
                f"expected 'NCDHW', 'NDHWC', 'NCL', 'NLC', 'NC', 'NCHW', "
                f"'NHWC' for data_format, got {self._data_format}"
            )

    def forward(self, x):
        self._check_data_format()
        distributed = paddle.distributed
        if not self.training or distributed.get_world_size() < 2:
            return super().forward(x)
        return self._synchronised(x)

    def _synchronised(self, x):
        """Sums, squares and counts are added up over the processes; the gradient runs through the sums."""
        last = self._data_format in ("NLC", "NHWC", "NDHWC")
        rank = len(x.shape)
        axes = list(range(rank - 1)) if last else [0, *range(2, rank)]
        channels = x.shape[-1 if last else 1]
        wide = x.astype(self._dtype)
        local = paddle.concat(
            [
                paddle.sum(wide, axis=axes),
                paddle.sum(wide * wide, axis=axes),
                paddle.full([1], wide.size / channels, wide.dtype),
            ]
        )
        total = _all_reduce_sum(local)
        count = total[2 * channels]
        mean = total[:channels] / count
        variance = total[channels : 2 * channels] / count - mean * mean
        with paddle.no_grad():
            keep = self._momentum
            self._mean.set_value(self._mean * keep + mean.detach() * (1 - keep))
            self._variance.set_value(self._variance * keep + variance.detach() * (1 - keep))
        scale = self.weight * paddle.rsqrt(variance + self._epsilon)
        shift = self.bias - mean * scale
        if not last:
            scale, shift = (t.reshape([1, -1] + [1] * (rank - 2)) for t in (scale, shift))
        return (wide * scale + shift).astype(x.dtype)

    @classmethod
    def convert_sync_batchnorm(cls, layer):
        """Replaces every BatchNorm*D inside `layer` by a SyncBatchNorm with the same tensors; returns the result."""
        result = layer
        if isinstance(layer, _BatchNormBase) and not isinstance(layer, SyncBatchNorm):
            attributes = [layer._weight_attr if hasattr(layer, "_weight_attr") else layer._param_attr, layer._bias_attr]
            result = SyncBatchNorm(
                layer._num_features, layer._momentum, layer._epsilon, *attributes, layer._data_format,
                getattr(layer, "_name", None),
            )  # fmt: skip
            result.weight, result.bias = layer.weight, layer.bias
            result._mean, result._variance = layer._mean, layer._variance
            result.training = layer.training
        for name, child in layer.named_children():
            replaced = cls.convert_sync_batchnorm(child)
            if replaced is not child:
                result.add_sublayer(name, replaced)
        return result


@functools.cache
def _all_reduce_layer():
    """Made at first use: importing the layers must not need autograd or the process groups."""

    class AllReduceSum(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, value):
            return _summed(value)

        @staticmethod
        def backward(ctx, gradient):
            return _summed(gradient)

    return AllReduceSum


def _summed(value):
    total = paddle.assign(value)
    paddle.distributed.all_reduce(total)
    return total


def _all_reduce_sum(value):
    """The sum over all processes; backwards the gradients are summed as well."""
    return _all_reduce_layer().apply(value)
