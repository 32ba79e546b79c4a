"""Convolutions of sparse images [N, (D,) H, W, C], whose pixels have coordinates and whose channels are dense.

Sums are those of dense convolutions; what is sparse is where results are kept: submanifold ones at the pixels of the input,
others wherever the window meets a pixel.
"""

from __future__ import annotations

import paddle
from paddle.nn import functional as F

from ...tensor import SparseCooTensor, expect_sparse

__all__ = []


def _image(op, x, n):
    if not expect_sparse(op, x).is_sparse_coo() or x.ndim != n + 2 or x.dense_dim() != 1:
        raise ValueError(
            f"[sparse.{op}] expected a COO tensor of {n + 2} axes with dense channels, got shape {x.shape}"
        )
    return x.coalesce()


def _occupied(x):
    """1 at the pixels that are there: [N, 1, ...]."""
    ones = x.with_values(paddle.ones([x.nnz(), 1], "float32")).to_dense()
    return paddle.moveaxis(ones, -1, 1)


def _convolved(op, n, x, weight, bias, stride, padding, dilation, groups, data_format, submanifold):
    if data_format != ("NDHWC" if n == 3 else "NHWC"):
        raise ValueError(f"[sparse.{op}] expected data_format {'NDHWC' if n == 3 else 'NHWC'}, got {data_format}")
    x = _image(op, x, n)
    f = F.conv3d if n == 3 else F.conv2d
    first = paddle.moveaxis(x.to_dense(), -1, 1)
    filters = paddle.transpose(weight, [n + 1, n, *range(n)])  # from [*kernel, in, out]
    if submanifold:  # the results stand where the elements do, whatever stride and padding would say
        spread = [dilation] * n if isinstance(dilation, int) else dilation
        stride, padding = 1, [k // 2 * d for k, d in zip(weight.shape, spread)]
    dense = paddle.moveaxis(f(first, filters, bias, stride, padding, dilation, groups), 1, -1)
    if submanifold:
        if list(dense.shape[:-1]) != list(x.shape[:-1]):
            raise ValueError(f"[sparse.{op}] expected a kernel of odd sizes, got {weight.shape[:n]}")
        where = x.indices().transpose([1, 0])
    else:
        window = paddle.ones([1, 1, *weight.shape[:n]], "float32")
        hit = f(_occupied(x), window, None, stride, padding, dilation)
        where = paddle.nonzero(hit.squeeze(1) > 0.5)
    return SparseCooTensor.make(where.transpose([1, 0]), paddle.gather_nd(dense, where), dense.shape, True)


_DOC = """{what} of a sparse image.

    Args:
        x (SparseCooTensor): {axes}, the channels dense.
        weight (Tensor): [{kernel}, in / groups, out].
        bias (Tensor, optional): [out].
        stride, padding, dilation (int | sequence), groups (int): as of dense convolutions.
        data_format (str): where the channels stand: last.

    Returns:
        SparseCooTensor with pixels {where}.

    Raises:
        ValueError: shapes or formats don't fit. TypeError: x is dense.
    """


def _function(op, n, submanifold):
    layout = "NDHWC" if n == 3 else "NHWC"
    if submanifold:  # `key` names a layout that several calls share; here nothing is kept

        def f(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_format=layout, key=None, name=None):
            return _convolved(op, n, x, weight, bias, stride, padding, dilation, groups, data_format, True)
    else:

        def f(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_format=layout, name=None):
            return _convolved(op, n, x, weight, bias, stride, padding, dilation, groups, data_format, False)

    f.__name__ = f.__qualname__ = op
    f.__doc__ = _DOC.format(
        what="Submanifold convolution" if submanifold else "Convolution",
        axes="[N, D, H, W, C]" if n == 3 else "[N, H, W, C]",
        kernel="depth, height, width" if n == 3 else "height, width",
        where="where the input has them (Graham et al., 2018)" if submanifold else "wherever the window meets one",
    )
    return f


conv2d = _function("conv2d", 2, False)
conv3d = _function("conv3d", 3, False)
subm_conv2d = _function("subm_conv2d", 2, True)
subm_conv3d = _function("subm_conv3d", 3, True)
subm_conv2d_igemm = _function("subm_conv2d_igemm", 2, True)
subm_conv3d_igemm = _function("subm_conv3d_igemm", 3, True)


def max_pool3d(x, kernel_size, stride=None, padding=0, ceil_mode=False, data_format="NDHWC", name=None):
    """The largest of the stored elements in each window, wherever the window meets a pixel.

    Args:
        x (SparseCooTensor): [N, D, H, W, C], the channels dense.
        kernel_size, stride, padding (int | sequence), ceil_mode (bool): as of dense pooling.

    Raises:
        ValueError: shapes or formats don't fit. TypeError: x is dense.
    """
    if data_format != "NDHWC":
        raise ValueError(f"[sparse.max_pool3d] expected data_format NDHWC, got {data_format}")
    x = _image("max_pool3d", x, 3)
    there = _occupied(x)
    first = paddle.moveaxis(x.to_dense(), -1, 1)
    low = paddle.full_like(first, -3.0e38 if str(x.dtype).endswith("32") else -6.0e4)
    pooled = F.max_pool3d(paddle.where(there > 0, first, low), kernel_size, stride, padding, ceil_mode=ceil_mode)
    hit = F.max_pool3d(there, kernel_size, stride, padding, ceil_mode=ceil_mode)
    where = paddle.nonzero(hit.squeeze(1) > 0)
    dense = paddle.moveaxis(pooled, 1, -1)
    return SparseCooTensor.make(where.transpose([1, 0]), paddle.gather_nd(dense, where), dense.shape, True)
