"""Features of regions: pooled, aligned, and gathered at learned places. All are compositions, with gradients."""

from __future__ import annotations

import numpy as np
import paddle
from paddle import nn

from ..jit._trace_api import is_traced as in_capture

__all__ = []


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def _images(boxes_num, count):
    """Which image each box belongs to, as a tensor [count]."""
    if in_capture(boxes_num):
        ends = paddle.cumsum(boxes_num.astype("int64"), axis=0)
        return paddle.searchsorted(ends, paddle.arange(count), right=True)
    return paddle.to_tensor(_batch_index(boxes_num, count))


def _batch_index(boxes_num, count):
    """The same as an array."""
    numbers = boxes_num.numpy().reshape(-1).astype(np.int64)
    if int(numbers.sum()) != count:
        raise ValueError(f"expected boxes_num to sum to the number of boxes {count}, got {int(numbers.sum())}")
    return np.repeat(np.arange(len(numbers)), numbers)


def _bilinear(x, image, y_at, x_at, limit):
    """x [N, C, H, W] of `image` [R] at the places y_at, x_at [R, ...]: [R, C, ...].

    `limit` says how far outside a place still counts (1: up to a pixel, then the border's value; 0: zeros outside).
    """
    n, channels, height, width = x.shape
    shape = y_at.shape
    inside = ((y_at > -1.0) & (y_at < height) & (x_at > -1.0) & (x_at < width)).astype(x.dtype)
    if limit:
        y_at, x_at = y_at.clip(min=0.0), x_at.clip(min=0.0)
    y0, x0 = paddle.floor(y_at), paddle.floor(x_at)
    if limit:
        y0, x0 = y0.clip(max=height - 1), x0.clip(max=width - 1)
        y_at, x_at = (
            paddle.minimum(y_at, paddle.full_like(y_at, height - 1)),
            paddle.minimum(x_at, paddle.full_like(x_at, width - 1)),
        )
    flat = x.transpose([0, 2, 3, 1]).reshape([n * height * width, channels])
    base = image.reshape([-1] + [1] * (len(shape) - 1)) * (height * width)
    total = None
    for dy in (0, 1):
        for dx in (0, 1):
            yi, xi = y0 + dy, x0 + dx
            weight = (1.0 - paddle.abs(y_at - yi)) * (1.0 - paddle.abs(x_at - xi)) * inside
            valid = ((yi >= 0) & (yi <= height - 1) & (xi >= 0) & (xi <= width - 1)).astype(x.dtype)
            at = base + yi.clip(0, height - 1).astype("int64") * width + xi.clip(0, width - 1).astype("int64")
            part = paddle.gather(flat, at.reshape([-1]), axis=0).reshape([*shape, channels])
            part = part * (weight * valid).unsqueeze(-1)
            total = part if total is None else total + part
    return paddle.moveaxis(total, -1, 1)


def roi_align(x, boxes, boxes_num, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=True, name=None):
    """Means over points inside each cell of each box (He et al., "Mask R-CNN", 2017).

    Args:
        x (Tensor): [N, C, H, W].
        boxes (Tensor): [R, 4].
        boxes_num (Tensor): [N], how many boxes each image has.
        output_size (int | pair): cells down and across.
        spatial_scale (float): from the boxes' pixels to those of `x`.
        sampling_ratio (int): points per cell and axis; by the size of the box when not above 0.
        aligned (bool): pixels have their centres at half numbers.

    Returns:
        Tensor [R, C, *output_size].
    """
    rows, cols = _pair(output_size)
    count = boxes.shape[0]
    image = _images(boxes_num, count)
    if count == 0:
        return paddle.zeros([0, x.shape[1], rows, cols], x.dtype)
    shift = 0.5 if aligned else 0.0
    scaled = boxes.detach() * spatial_scale - shift
    x1, y1, x2, y2 = (scaled[:, i] for i in range(4))
    width, height = x2 - x1, y2 - y1
    if not aligned:
        width, height = width.clip(min=1.0), height.clip(min=1.0)
    cell_h, cell_w = height / rows, width / cols
    places = (image, y1, x1, cell_h, cell_w)
    if sampling_ratio > 0:
        return _aligned(x, places, (rows, cols), (sampling_ratio, sampling_ratio))
    sizes = np.stack([np.ceil(cell_h.numpy()), np.ceil(cell_w.numpy())], 1).astype(int).clip(1)
    groups = {}
    for i, size in enumerate(map(tuple, sizes)):
        groups.setdefault(size, []).append(i)
    parts, order = [], []
    for points, members in groups.items():
        pick = paddle.to_tensor(np.asarray(members, np.int64))
        parts.append(_aligned(x, [paddle.gather(p, pick) for p in places], (rows, cols), points))
        order += members
    if len(parts) == 1:
        return parts[0]
    return paddle.gather(paddle.concat(parts, 0), paddle.to_tensor(np.argsort(order)), axis=0)


def _aligned(x, places, cells, points):
    """Boxes at `places` (image, y, x, a cell's height and width, each [R]), `points` a cell and axis: [R, C, *cells]."""
    image, y1, x1, cell_h, cell_w = places
    (rows, cols), (sh, sw) = cells, points
    count = image.shape[0]
    down = (paddle.arange(rows * sh, dtype="float32").astype(x.dtype) + 0.5) / sh
    across = (paddle.arange(cols * sw, dtype="float32").astype(x.dtype) + 0.5) / sw
    y_at = (y1.unsqueeze(-1) + cell_h.unsqueeze(-1) * down).unsqueeze(-1).expand([count, rows * sh, cols * sw])
    x_at = (x1.unsqueeze(-1) + cell_w.unsqueeze(-1) * across).unsqueeze(1).expand([count, rows * sh, cols * sw])
    values = _bilinear(x, image, y_at, x_at, 1)
    return values.reshape([count, x.shape[1], rows, sh, cols, sw]).mean([3, 5])


class RoIAlign(nn.Layer):
    """``roi_align`` as a layer."""

    def __init__(self, output_size, spatial_scale=1.0):
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def forward(self, x, boxes, boxes_num, aligned=True):
        return roi_align(x, boxes, boxes_num, self._output_size, self._spatial_scale, aligned=aligned)


def _pooled(x, boxes, boxes_num, output_size, spatial_scale, bounds, reduce):
    """Cell by cell: `reduce`(the part of the image [C, h, w], row, column) -> [C]."""
    rows, cols = _pair(output_size)
    image = _batch_index(boxes_num, boxes.shape[0])
    height, width = x.shape[2:]
    out = []
    for i, box in enumerate(boxes.numpy()):
        y_edges, x_edges = bounds(box, spatial_scale, rows, cols)
        cells = []
        for r in range(rows):
            for c in range(cols):
                y0, y1 = (int(np.clip(v, 0, height)) for v in y_edges(r))
                x0, x1 = (int(np.clip(v, 0, width)) for v in x_edges(c))
                cells.append(reduce(x[int(image[i])], y0, y1, x0, x1, r, c))
        out.append(paddle.stack(cells, -1).reshape([-1, rows, cols]))
    return paddle.stack(out, 0)


def roi_pool(x, boxes, boxes_num, output_size, spatial_scale=1.0, name=None):
    """Maxima over the cells of each box, whose edges are rounded (Girshick, "Fast R-CNN", 2015).

    The arguments are those of ``roi_align``.
    """

    def bounds(box, scale, rows, cols):
        x1, y1, x2, y2 = (int(np.floor(v * scale + 0.5)) for v in box)
        h, w = max(y2 - y1 + 1, 1) / rows, max(x2 - x1 + 1, 1) / cols
        return (
            lambda r: (np.floor(r * h) + y1, np.ceil((r + 1) * h) + y1),
            lambda c: (np.floor(c * w) + x1, np.ceil((c + 1) * w) + x1),
        )

    def reduce(image, y0, y1, x0, x1, r, c):
        if y1 <= y0 or x1 <= x0:
            return paddle.zeros([image.shape[0]], image.dtype)
        return image[:, y0:y1, x0:x1].max([1, 2])

    if boxes.shape[0] == 0:
        return paddle.zeros([0, x.shape[1], *_pair(output_size)], x.dtype)
    return _pooled(x, boxes, boxes_num, output_size, spatial_scale, bounds, reduce)


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

    Raises:
        ValueError: the channels are no multiple of the number of cells.
    """
    rows, cols = _pair(output_size)
    if x.shape[1] % (rows * cols):
        raise ValueError(f"[psroi_pool] expected channels in multiples of {rows * cols}, got {x.shape[1]}")
    channels = x.shape[1] // (rows * cols)

    def bounds(box, scale, rows, cols):
        x1, y1 = (np.floor(v + 0.5) * scale for v in box[:2])
        x2, y2 = ((np.floor(v + 0.5) + 1.0) * scale for v in box[2:])
        h, w = max(y2 - y1, 0.1) / rows, max(x2 - x1, 0.1) / cols
        return (
            lambda r: (np.floor(r * h + y1), np.ceil((r + 1) * h + y1)),
            lambda c: (np.floor(c * w + x1), np.ceil((c + 1) * w + x1)),
        )

    def reduce(image, y0, y1, x0, x1, r, c):
        if y1 <= y0 or x1 <= x0:
            return paddle.zeros([channels], image.dtype)
        cells = image.reshape([channels, rows * cols, *image.shape[1:]])
        return cells[:, r * cols + c, y0:y1, x0:x1].mean([1, 2])

    return _pooled(x, boxes, boxes_num, output_size, spatial_scale, bounds, reduce)


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
        x (Tensor): [N, C, H, W].
        offset (Tensor): [N, 2 * deformable_groups * kh * kw, H', W'], y before x.
        weight (Tensor): [O, C / groups, kh, kw].
        mask (Tensor, optional): [N, deformable_groups * kh * kw, H', W'].

    Returns:
        Tensor [N, O, H', W'].
    """
    (sh, sw), (ph, pw), (dh, dw) = _pair(stride), _pair(padding), _pair(dilation)
    n, channels = x.shape[:2]
    out_channels, _, kh, kw = weight.shape
    rows, cols = offset.shape[2:]
    taps = kh * kw
    ky, kx = np.meshgrid(np.arange(kh) * dh, np.arange(kw) * dw, indexing="ij")
    oy, ox = np.meshgrid(np.arange(rows) * sh - ph, np.arange(cols) * sw - pw, indexing="ij")
    base_y = paddle.to_tensor((ky.reshape(-1, 1, 1) + oy).astype(np.float32)).astype(x.dtype)
    base_x = paddle.to_tensor((kx.reshape(-1, 1, 1) + ox).astype(np.float32)).astype(x.dtype)
    moved = offset.reshape([n, deformable_groups, taps, 2, rows, cols])
    y_at = (moved[:, :, :, 0] + base_y).reshape([n * deformable_groups, taps, rows, cols])
    x_at = (moved[:, :, :, 1] + base_x).reshape([n * deformable_groups, taps, rows, cols])
    split = x.reshape([n * deformable_groups, channels // deformable_groups, *x.shape[2:]])
    columns = _bilinear(split, paddle.arange(n * deformable_groups), y_at, x_at, 0)
    if mask is not None:
        columns = columns * mask.reshape([n * deformable_groups, 1, taps, rows, cols])
    columns = columns.reshape([n, groups, channels // groups * taps, rows * cols])
    filters = weight.reshape([1, groups, out_channels // groups, channels // groups * taps])
    out = paddle.matmul(filters, columns).reshape([n, out_channels, rows, cols])
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
