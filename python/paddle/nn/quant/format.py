"""Quantised layers after training: what their quantisers have measured becomes constants."""

from __future__ import annotations

import abc

import paddle

from ...utils import unique_name
from ..layer.layers import Layer
from . import fake_quant

__all__ = []


class _Linear(Layer):
    """A grid: scales, their axis, the number of bits. A scale matrix [groups, columns] belongs to groups of rows."""

    def __init__(self, scales, zero_point=None, quant_axis=None, bit_length=8, group_size=128):
        super().__init__()
        scales = paddle.to_tensor(scales, dtype="float32")
        self._scales = self._constant("scale", scales)
        self._zero_point = self._constant(
            "zero_point", paddle.zeros_like(scales) if zero_point is None else paddle.to_tensor(zero_point, dtype="float32")
        )
        self._quant_axis = -1 if quant_axis is None else quant_axis
        self._bit_length, self._group_size = bit_length, group_size
        self._qmax = fake_quant.levels(bit_length)
        self._qmin = -self._qmax - 1

    def _constant(self, what, value):
        attr = paddle.ParamAttr(name=unique_name.generate(f"quant_dequant.{what}"), trainable=False)
        parameter = self.create_parameter(
            value.shape, attr, "float32", default_initializer=paddle.nn.initializer.Constant(0.0)
        )
        parameter.set_value(value)
        return parameter

    def _grid(self):
        """(scales, axis) that go with a matrix or tensor."""
        if self._scales.ndim < 2:
            return self._scales, self._quant_axis
        return paddle.repeat_interleave(self._scales, self._group_size, 0), -1

    @classmethod
    def from_quanter(cls, quanter):
        """With what a quantiser has measured."""
        return cls(quanter.scales(), quanter.zero_points(), quanter.quant_axis(), quanter.bit_length())


class LinearQuanter(_Linear):
    """The integers of its input, in the input's dtype.

    Args:
        scales (Tensor): [1], [n] along `quant_axis`, or [groups, columns].
        zero_point (Tensor, optional): kept beside; grids are symmetric.
        quant_axis (int, optional): the axis of several scales.
        bit_length (int): bits with the sign.
        group_size (int): rows of a group.
    """

    def forward(self, input):
        scales, axis = self._grid()
        return fake_quant.quantize(input.astype("float32"), scales, self._bit_length, axis).astype(input.dtype)


class LinearDequanter(_Linear):
    """What the integers of its input stand for; the arguments are those of ``LinearQuanter``."""

    def forward(self, input):
        scales, axis = self._grid()
        return fake_quant.dequantize(input.astype("float32"), scales, self._bit_length, axis).astype(input.dtype)


class LinearQuanterDequanter(Layer):
    """Quantises, then dequantises; either may be None."""

    def __init__(self, quanter, dequanter):
        super().__init__()
        self._quanter, self._dequanter = quanter, dequanter

    def forward(self, input):
        for step in (self._quanter, self._dequanter):
            input = input if step is None else step(input)
        return input

    @staticmethod
    def from_quanter(quanter):
        """With what a quantiser has measured."""
        return LinearQuanterDequanter(LinearQuanter.from_quanter(quanter), LinearDequanter.from_quanter(quanter))


class ConvertibleQuantedLayer(Layer, metaclass=abc.ABCMeta):
    """A layer with quantisers of its weights and of its input."""

    def __init__(self):
        super().__init__()
        self.converted = False

    @abc.abstractmethod
    def weights_to_quanters(self):
        """[(attribute of a weight, attribute of its quantiser)]."""

    @abc.abstractmethod
    def activation_quanters(self):
        """[attribute of a quantiser of the input]."""

    def _constant_quanter(self, name):
        quanter = getattr(self, name, None)
        if quanter is None:
            return None
        fixed = LinearQuanterDequanter.from_quanter(quanter)
        setattr(self, name, fixed)
        return fixed

    def _convert(self, remain_weight=False):
        """Quantisers become constants; weights become integers, unless they are to remain."""
        if self.converted:
            raise AssertionError("The model should be converted only once.")
        for weight, name in self.weights_to_quanters():
            fixed = self._constant_quanter(name)
            if fixed is not None and not remain_weight:
                value = getattr(self, weight)
                with paddle.no_grad():
                    value.set_value(fixed._quanter(value))
                fixed._quanter = None
        for name in self.activation_quanters():
            self._constant_quanter(name)
        self.converted = True


class QuantedLayer(ConvertibleQuantedLayer):
    """What the quantised forms of layers with a weight share.

    Args:
        layer (Layer): the layer whose parameters it takes over.
        q_config (SingleLayerConfig): its quantisers.
    """

    def __init__(self, layer, q_config):
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias
        self.weight_quanter = None if q_config.weight is None else q_config.weight._instance(layer)
        self.activation_quanter = None if q_config.activation is None else q_config.activation._instance(layer)

    def forward(self, input):
        weight = self.weight
        if self.activation_quanter is not None:
            input = self.activation_quanter(input)
        if self.weight_quanter is not None:
            weight = self.weight_quanter(weight)
        return self._compute(input, weight)

    def weights_to_quanters(self):
        return [("weight", "weight_quanter")]

    def activation_quanters(self):
        return ["activation_quanter"]
