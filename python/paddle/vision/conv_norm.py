"""A convolution with normalisation and activation: the brick of image networks."""

from __future__ import annotations

from paddle import nn

__all__ = []


class ConvNormActivation(nn.Sequential):
    """Convolution, normalisation, activation, one after another.

    Args:
        in_channels, out_channels (int): channels.
        kernel_size (int | pair): of the convolution.
        stride (int | pair): of the convolution.
        padding (int | pair | str, optional): by default what keeps the size at stride 1.
        groups (int): of the convolution.
        norm_layer (type, optional): made with the number of channels; None leaves it out.
        activation_layer (type, optional): made without arguments; None leaves it out.
        dilation (int): of the convolution.
        bias (bool, optional): of the convolution; by default only without a normalisation.
    """

    def __init__(
        self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1, norm_layer=nn.BatchNorm2D,
        activation_layer=nn.ReLU, dilation=1, bias=None,
    ):  # fmt: skip
        if padding is None:
            padding = (kernel_size - 1) // 2 * dilation
        if bias is None:
            bias = norm_layer is None
        convolution = nn.Conv2D(
            in_channels, out_channels, kernel_size, stride, padding, dilation=dilation, groups=groups,
            bias_attr=None if bias else False,
        )  # fmt: skip
        layers = [convolution]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer())
        super().__init__(*layers)
