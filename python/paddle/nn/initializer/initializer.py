"""Initializer: base class, fans and gains, and the process-wide defaults."""

from __future__ import annotations

import math

import paddle

from ...base.framework import EagerParamBase

__all__ = []


class Initializer:
    """Fills a parameter.

    A subclass gives `_values(shape, dtype)`, which returns the tensor, or overrides `forward(var, block)`, which fills
    `var` itself. Calling an initializer with a parameter fills that in place.
    """

    def __init__(self):
        pass

    def __call__(self, param, block=None):
        return self.forward(param, block)

    def forward(self, var, block=None):
        """Fills `var` in place and returns it."""
        with paddle.no_grad():
            var.set_value(self._values(list(var.shape), var.dtype))
        return var

    def _values(self, shape, dtype):
        raise NotImplementedError

    def _make_parameter(self, shape, dtype, kwargs):
        """A new parameter, without a second copy of the values where the initializer can make them itself."""
        from .lazy_init import lazy_init_helper

        if lazy_init_helper().state:
            param = EagerParamBase(shape, dtype, **kwargs)
            param.set_init_func(lambda: self(param))
            return param
        if type(self)._values is Initializer._values or type(self).__call__ is not Initializer.__call__:
            param = EagerParamBase(shape, dtype, **kwargs)
            self(param)
            return param
        with paddle.no_grad():
            return EagerParamBase.from_tensor(self._values(shape, dtype), **kwargs)

    def _compute_fans(self, var):
        return fans(list(var.shape))


def fans(shape):
    """(fan_in, fan_out) of a weight: [in, out] for matrices, [out, in, *kernel] beyond two dimensions."""
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    if len(shape) == 2:
        return shape[0], shape[1]
    kernel = math.prod(shape[2:])
    return shape[1] * kernel, shape[0] * kernel


def drawn_in_float32(draw, shape, dtype):
    """Calls ``draw(shape, dtype)``; 16-bit types are drawn in float32 and rounded once."""
    if paddle_name(dtype) in ("float16", "bfloat16"):
        return draw(shape, "float32").astype(dtype)
    return draw(shape, dtype)


def paddle_name(dtype):
    """The bare name of a dtype in any spelling."""
    return str(dtype).rsplit(".", 1)[-1]


def uniform(shape, dtype, low, high, seed=0):
    """Values in [low, high)."""
    return drawn_in_float32(lambda s, d: paddle.uniform(s, d, low, high, seed), shape, dtype)


def normal(shape, dtype, mean, std, seed=0):
    """Normal values; `seed` other than 0 makes them repeatable."""

    def draw(sizes, kind):
        if seed:
            place = paddle.framework._current_expected_place_()
            return paddle._C_ops.gaussian(
                sizes, float(mean), float(std), seed, getattr(paddle, paddle_name(kind)), place
            )
        value = paddle.randn(sizes, kind)
        if std != 1.0:
            value = value * std
        return value + mean if mean != 0.0 else value

    return drawn_in_float32(draw, shape, dtype)


_LINEAR_LIKE = (
    "sigmoid",
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv1d_transpose",
    "conv2d_transpose",
    "conv3d_transpose",
)


def calculate_gain(nonlinearity, param=None):
    """The factor on a weight's standard deviation that keeps the variance through `nonlinearity`.

    Args:
        nonlinearity (str): sigmoid, linear, conv*d, tanh, relu, leaky_relu or selu.
        param (float, optional): the negative slope of leaky_relu; 0.01 when None.

    Returns:
        float.

    Raises:
        ValueError: an activation that is not in the list.
    """
    if nonlinearity in _LINEAR_LIKE:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"[calculate_gain] negative slope {slope} is not a number")
        return math.sqrt(2.0 / (1 + slope * slope))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"nonlinearity function {nonlinearity} is not suppported now.")


_global_weight = None
_global_bias = None


def set_global_initializer(weight_init, bias_init=None):
    """Replaces the default initializers of all layers that are made from now on.

    Args:
        weight_init (Initializer | None): for weights; None goes back to the layers' own.
        bias_init (Initializer | None): for biases.

    A ParamAttr that names an initializer still wins.
    """
    global _global_weight, _global_bias
    for name, value in (("weight_init", weight_init), ("bias_init", bias_init)):
        if value is not None and not isinstance(value, Initializer):
            raise TypeError(
                f"[set_global_initializer] {name} must be an Initializer or None, got {type(value).__name__}"
            )
    _global_weight, _global_bias = weight_init, bias_init


def choose_initializer(attr, is_bias, layer_default):
    """Which initializer fills a parameter: the attribute's, the global one, the layer's, or the general default."""
    if attr.initializer is not None:
        return attr.initializer
    chosen = (_global_bias if is_bias else _global_weight) or layer_default
    if chosen is not None:
        return chosen
    from .constant import Constant
    from .xavier import XavierUniform

    return Constant(0.0) if is_bias else XavierUniform()
