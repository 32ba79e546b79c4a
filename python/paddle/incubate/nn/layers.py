"""Linear layers and dropout with what follows them."""

from __future__ import annotations

from paddle import nn

from . import functional as F  # noqa: N812

__all__ = []


class FusedLinear(nn.Layer):
    """``paddle.nn.Linear``; with `transpose_weight` the weight has shape [out_features, in_features].

    Args:
        in_features, out_features (int): sizes.
        weight_attr, bias_attr (ParamAttr | bool, optional): of the parameters; ``bias_attr=False`` for no bias.
        transpose_weight (bool): how the weight is laid out.
    """

    def __init__(self, in_features, out_features, weight_attr=None, bias_attr=None, transpose_weight=False, name=None):
        super().__init__()
        shape = [out_features, in_features] if transpose_weight else [in_features, out_features]
        self.weight = self.create_parameter(shape, weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.transpose_weight = transpose_weight
        self.name = name

    def forward(self, input):
        return F.fused_linear(input, self.weight, self.bias, self.transpose_weight)


class FusedDropoutAdd(nn.Layer):
    """dropout(x) + y."""

    def __init__(self, p=0.5, mode="upscale_in_train", name=None):
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, x, y):
        return F.fused_dropout_add(x, y, self.p, self.training, self.mode)

    def extra_repr(self):
        return f"p={self.p}, mode={self.mode}"
