"""Features of regions: pooled, aligned, and gathered at learned places."""

from __future__ import annotations

from paddle import _C_ops, nn

__all__ = []


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def roi_align(x, boxes, boxes_num, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=True, name=None):
    """Means over points inside each cell of each box (He et al., "Mask R-CNN", 2017).

    Args:
        x (Tensor): [N, C, H, W], floating point.
        boxes (Tensor): [R, 4], of the dtype of `x`.
        boxes_num (Tensor): [N], int32: how many boxes each image has.
        output_size (int | pair): cells down and across.
        spatial_scale (float): from the boxes' pixels to those of `x`.
        sampling_ratio (int): points per cell and axis; by the size of the box when not above 0.
        aligned (bool): pixels have their centres at half numbers.

    Returns:
        Tensor [R, C, *output_size].

    Raises:
        ValueError: shapes or numbers don't fit. TypeError: dtypes don't.
    """
    rows, cols = _pair(output_size)
    return _C_ops.roi_align(x, boxes, boxes_num, rows, cols, spatial_scale, sampling_ratio, aligned)


class RoIAlign(nn.Layer):
    """``roi_align`` as a layer."""

    def __init__(self, output_size, spatial_scale=1.0):
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def forward(self, x, boxes, boxes_num, aligned=True):
        return roi_align(x, boxes, boxes_num, self._output_size, self._spatial_scale, aligned=aligned)


def roi_pool(x, boxes, boxes_num, output_size, spatial_scale=1.0, name=None):
    """Maxima over the cells of each box, whose edges are rounded (Girshick, "Fast R-CNN", 2015).

    The arguments are those of ``roi_align``.
    """
    rows, cols = _pair(output_size)
    return _C_ops.roi_pool(x, boxes, boxes_num, rows, cols, spatial_scale)


class RoIPool(nn.Layer):
    """``roi_pool`` as a layer."""

    def __init__(self, output_size, spatial_scale=1.0):
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def forward(self, x, boxes, boxes_num):
        return roi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)

    def extra_repr(self):
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"


def psroi_pool(x, boxes, boxes_num, output_size, spatial_scale=1.0, name=None):
    """Means over cells, each of channels of its own (Dai et al., "R-FCN", 2016): [R, C / cells, *output_size].

    The arguments are those of ``roi_align``.

    Raises:
        ValueError: the channels are no multiple of the number of cells.
    """
    rows, cols = _pair(output_size)
    if x.shape[1] % (rows * cols):
        raise ValueError(f"[psroi_pool] expected channels in multiples of {rows * cols}, got {x.shape[1]}")
    return _C_ops.psroi_pool(x, boxes, boxes_num, rows, cols, x.shape[1] // (rows * cols), spatial_scale)


class PSRoIPool(nn.Layer):
    """``psroi_pool`` as a layer."""

    def __init__(self, output_size, spatial_scale=1.0):
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale

    def forward(self, x, boxes, boxes_num):
        return psroi_pool(x, boxes, boxes_num, self.output_size, self.spatial_scale)


def deform_conv2d(
    x, offset, weight, bias=None, stride=1, padding=0, dilation=1, deformable_groups=1, groups=1, mask=None, name=None
):
    """Convolution whose taps are moved by `offset` and weighted by `mask` (Dai et al., 2017; Zhu et al., 2018).

    Args:
        x (Tensor): [N, C, H, W], floating point.
        offset (Tensor): [N, 2 * deformable_groups * kh * kw, H', W'], y before x.
        weight (Tensor): [O, C / groups, kh, kw].
        bias (Tensor, optional): [O].
        stride, padding, dilation (int | pair), groups (int): as of ``conv2d``.
        deformable_groups (int): groups of channels whose taps move together.
        mask (Tensor, optional): [N, deformable_groups * kh * kw, H', W'].

    Returns:
        Tensor [N, O, H', W'].

    Raises:
        ValueError: shapes don't fit.
    """
    strides, paddings, dilations = (list(_pair(v)) for v in (stride, padding, dilation))
    out = _C_ops.deformable_conv(x, offset, weight, mask, strides, paddings, dilations, deformable_groups, groups)
    return out if bias is None else out + bias.reshape([1, -1, 1, 1])


class DeformConv2D(nn.Layer):
    """``deform_conv2d`` with parameters of its own."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, deformable_groups=1, groups=1,
        weight_attr=None, bias_attr=None,
    ):  # fmt: skip
        super().__init__()
        if weight_attr is False:
            raise AssertionError("weight_attr should not be False in Conv.")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups.")
        self._stride, self._padding, self._dilation = stride, padding, dilation
        self._deformable_groups, self._groups = deformable_groups, groups
        kernel = _pair(kernel_size)
        fan = in_channels * kernel[0] * kernel[1] // groups
        self.weight = self.create_parameter(
            [out_channels, in_channels // groups, *kernel], weight_attr,
            default_initializer=nn.initializer.Normal(0.0, (2.0 / fan) ** 0.5),
        )  # fmt: skip
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x, offset, mask=None):
        return deform_conv2d(
            x, offset, self.weight, self.bias, self._stride, self._padding, self._dilation, self._deformable_groups,
            self._groups, mask,
        )  # fmt: skip
