"""Convolution, pooling, normalisation, embedding, transforms: NumPy, or loops over elements."""

from __future__ import annotations

import math

import numpy as np


def _windows(sizes, kernel, strides, paddings, dilations, ceil=False):
    """Per axis: (before, number of positions)."""
    found = []
    for n, k, s, (a, b), d in zip(sizes, kernel, strides, paddings, dilations):
        span = n + a + b - d * (k - 1) - 1
        m = (span + (s - 1 if ceil else 0)) // s + 1
        if ceil and (m - 1) * s >= n + a:
            m -= 1
        found.append((a, m))
    return found


def _pairs(paddings, n, algorithm, sizes, kernel, strides, dilations):
    if algorithm == "SAME":
        out = []
        for size, k, s in zip(sizes, kernel, strides):
            total = max(0, (-(-size // s) - 1) * s + k - size)
            out.append((total // 2, total - total // 2))
        return out, [1] * n
    if len(paddings) == 2 * n:
        return [(paddings[2 * i], paddings[2 * i + 1]) for i in range(n)], dilations
    return [(p, p) for p in paddings], dilations


def _conv(x, filter, strides, pairs, dilations, groups):
    n = x.ndim - 2
    kernel = filter.shape[2:]
    geometry = _windows(x.shape[2:], kernel, strides, pairs, dilations)
    out = np.zeros([x.shape[0], filter.shape[0], *(m for _, m in geometry)])
    c, k = filter.shape[1], filter.shape[0] // groups
    for at in np.ndindex(out.shape[2:]):
        for tap in np.ndindex(kernel):
            y = [at[i] * strides[i] + tap[i] * dilations[i] - geometry[i][0] for i in range(n)]
            if all(0 <= v < s for v, s in zip(y, x.shape[2:])):
                for g in range(groups):
                    pixel = x[(slice(None), slice(g * c, (g + 1) * c), *y)]
                    weights = filter[(slice(g * k, (g + 1) * k), slice(None), *tap)]
                    out[(slice(None), slice(g * k, (g + 1) * k), *at)] += pixel @ weights.T
    return out


def conv(input, filter, strides, paddings, padding_algorithm, groups, dilations, data_format):
    last = data_format in ("NHWC", "NDHWC")
    x = np.moveaxis(input, -1, 1) if last else input
    n = x.ndim - 2
    pairs, dilations = _pairs(paddings, n, padding_algorithm, x.shape[2:], filter.shape[2:], strides, dilations)
    out = _conv(x, filter, strides, pairs, dilations, groups)
    return np.moveaxis(out, 1, -1) if last else out


def conv_transpose(
    x, filter, strides, paddings, output_padding, output_size, padding_algorithm, groups, dilations, data_format
):
    """Every input pixel adds its multiple of the filter to the result."""
    n = x.ndim - 2
    kernel, c = filter.shape[2:], x.shape[1] // groups
    more = output_padding or [0] * n
    sizes = [
        (x.shape[i + 2] - 1) * strides[i] - 2 * paddings[i] + dilations[i] * (kernel[i] - 1) + 1 + more[i]
        for i in range(n)
    ]
    out = np.zeros([x.shape[0], filter.shape[1] * groups, *sizes])
    k = filter.shape[1]
    for at in np.ndindex(x.shape[2:]):
        for tap in np.ndindex(kernel):
            y = [at[i] * strides[i] + tap[i] * dilations[i] - paddings[i] for i in range(n)]
            if all(0 <= v < s for v, s in zip(y, sizes)):
                for g in range(groups):
                    pixel = x[(slice(None), slice(g * c, (g + 1) * c), *at)]
                    out[(slice(None), slice(g * k, (g + 1) * k), *y)] += (
                        pixel @ filter[(slice(g * c, (g + 1) * c), slice(None), *tap)]
                    )
    return out


def _bins(at, n, m):
    return range(at * n // m, -(-(at + 1) * n // m))


def pool(
    x, kernel_size, strides, paddings, ceil_mode, exclusive, data_format, pooling_type, global_pooling, adaptive,
    padding_algorithm,
):  # fmt: skip
    last = data_format in ("NHWC", "NDHWC")
    x = np.moveaxis(x, -1, 1) if last else x
    n = x.ndim - 2
    sizes = x.shape[2:]
    if adaptive:
        out_sizes = list(kernel_size)
        ranges = [[_bins(i, s, m) for i in range(m)] for s, m in zip(sizes, out_sizes)]
        full = ranges
    else:
        geometry = _windows(sizes, kernel_size, strides, [(p, p) for p in paddings], [1] * n, ceil_mode)
        out_sizes = [m for _, m in geometry]
        full = [
            [range(i * strides[a] - paddings[a], min(i * strides[a] - paddings[a] + kernel_size[a], sizes[a] + paddings[a]))
             for i in range(out_sizes[a])] for a in range(n)
        ]  # fmt: skip
        ranges = [[range(max(r.start, 0), min(r.stop, sizes[a])) for r in full[a]] for a in range(n)]
    out = np.zeros([*x.shape[:2], *out_sizes])
    for at in np.ndindex(*out_sizes):
        part = x[(slice(None), slice(None), *(slice(ranges[a][at[a]].start, ranges[a][at[a]].stop) for a in range(n)))]
        flat = part.reshape([*x.shape[:2], -1])
        if pooling_type == "max":
            out[(slice(None), slice(None), *at)] = flat.max(-1)
        else:
            count = flat.shape[-1] if exclusive or adaptive else np.prod([len(full[a][at[a]]) for a in range(n)])
            out[(slice(None), slice(None), *at)] = flat.sum(-1) / count
    return np.moveaxis(out, 1, -1) if last else out


def max_pool_with_index(x, kernel_size, strides, paddings, global_pooling, adaptive, ceil_mode):
    n = x.ndim - 2
    geometry = _windows(x.shape[2:], kernel_size, strides, [(p, p) for p in paddings], [1] * n, ceil_mode)
    shape = [*x.shape[:2], *(m for _, m in geometry)]
    out, mask = np.zeros(shape), np.zeros(shape, np.int32)
    for at in np.ndindex(*shape):
        best = None
        for tap in np.ndindex(*kernel_size):
            y = tuple(at[i + 2] * strides[i] + tap[i] - paddings[i] for i in range(n))
            if all(0 <= v < s for v, s in zip(y, x.shape[2:])) and (best is None or x[(*at[:2], *y)] > best):
                best, where = x[(*at[:2], *y)], np.ravel_multi_index(y, x.shape[2:])
        out[at], mask[at] = best, where
    return [out, mask]


def max_pool_scatter(x, mask, shape):
    out = np.zeros([*shape[:2], int(np.prod(shape[2:]))])
    for at in np.ndindex(*x.shape):
        out[(*at[:2], mask[at])] += x[at]
    return out.reshape(shape)


def batch_norm(
    x, mean, variance, scale, bias, is_test, momentum, epsilon, data_format, use_global_stats, trainable_statistics
):
    axes = tuple(i for i in range(x.ndim) if i != 1)
    shape = [1, -1] + [1] * (x.ndim - 2)
    if is_test or use_global_stats:
        m, v, running = mean, variance, (mean, variance)
    else:
        m, v = x.mean(axes), x.var(axes)
        running = (mean * momentum + m * (1 - momentum), variance * momentum + v * (1 - momentum))
    y = (x - m.reshape(shape)) / np.sqrt(v.reshape(shape) + epsilon)
    y = y if scale is None else y * scale.reshape(shape)
    y = y if bias is None else y + bias.reshape(shape)
    return [y, *running, m, 1 / np.sqrt(v + epsilon)]


def layer_norm(x, scale, bias, epsilon, begin_norm_axis):
    axes = tuple(range(begin_norm_axis, x.ndim))
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)
    y = y if scale is None else y * scale.reshape(x.shape[begin_norm_axis:])
    return y if bias is None else y + bias.reshape(x.shape[begin_norm_axis:])


def embedding(x, weight, padding_idx, sparse):
    out = weight[x]
    if padding_idx >= 0:
        out[x == padding_idx] = 0
    return out


def embedding_grad(x, out_grad, rows, padding_idx):
    out = np.zeros([rows, out_grad.shape[-1]])
    for at in np.ndindex(*x.shape):
        if x[at] != padding_idx:
            out[x[at]] += out_grad[at]
    return out


def cross_entropy(logits, label, soft_label, use_softmax, ignore_index, axis):
    """[softmax, loss]"""
    e = np.exp(logits - logits.max(axis, keepdims=True))
    p = e / e.sum(axis, keepdims=True) if use_softmax else logits
    if soft_label:
        return [p, -(label * np.log(p)).sum(axis, keepdims=True)]
    at = label if label.ndim == logits.ndim else np.expand_dims(label, axis)
    picked = np.take_along_axis(p, np.where(at == ignore_index, 0, at), axis)
    return [p, np.where(at == ignore_index, 0.0, -np.log(picked))]


def softmax_grad(out, out_grad, axis):
    if out.ndim == 0:
        return out_grad * 0
    return out * (out_grad - (out_grad * out).sum(axis, keepdims=True))


def log_softmax_grad(out, out_grad, axis):
    return out_grad - np.exp(out) * out_grad.sum(axis, keepdims=True)


def frame(x, frame_length, hop_length, axis):
    first = axis == 0
    x = np.moveaxis(x, 0, -1) if first else x
    count = 1 + (x.shape[-1] - frame_length) // hop_length
    out = np.stack([x[..., i * hop_length : i * hop_length + frame_length] for i in range(count)], -1)
    return np.moveaxis(out, [-1, -2], [0, 1]) if first else out


def overlap_add(x, hop_length, axis):
    first = axis == 0
    x = np.moveaxis(x, [0, 1], [-1, -2]) if first else x
    length, count = x.shape[-2:]
    out = np.zeros([*x.shape[:-2], (count - 1) * hop_length + length], x.dtype)
    for i in range(count):
        out[..., i * hop_length : i * hop_length + length] += x[..., i]
    return np.moveaxis(out, -1, 0) if first else out


def mode(x, axis, keepdim):
    if x.ndim == 0:
        return [x, np.int64(0)]

    def one(row):
        values, counts = np.unique(row, return_counts=True)
        value = values[counts == counts.max()][0]
        return value, np.flatnonzero(row == value)[-1]

    found = np.apply_along_axis(lambda r: np.array(one(r), float), axis, x)
    value, index = np.take(found, 0, axis), np.take(found, 1, axis).astype(np.int64)
    return [np.expand_dims(v, axis) if keepdim else v for v in (value, index)]


def unique_consecutive(x, return_inverse, return_counts, axis, dtype):
    """The values only: the inverse and the counts are there where they are asked for."""
    if not axis:
        x, along = x.reshape(-1), 0
    else:
        along = axis[0]
    rows = np.moveaxis(x, along, 0)
    keep = [i for i in range(len(rows)) if i == 0 or not np.array_equal(rows[i], rows[i - 1])]
    return np.moveaxis(rows[keep], 0, along)


# -- fused


def _act(x, name):
    sigmoid = 1 / (1 + np.exp(-x))
    gelu = np.vectorize(lambda v: v * 0.5 * (1 + math.erf(v / math.sqrt(2))), otypes=[float])
    return {
        "none": lambda: x, "identity": lambda: x, "relu": lambda: np.maximum(x, 0), "gelu": lambda: gelu(x),
        "silu": lambda: x * sigmoid, "sigmoid": lambda: sigmoid, "tanh": lambda: np.tanh(x),
    }[name]()  # fmt: skip


def fused_conv(
    input, filter, bias, residual_data, filter_scale, strides, paddings, padding_algorithm, dilations, groups, data_format, activation
):
    filter = filter if filter_scale is None else filter * filter_scale.reshape([-1, 1, 1, 1])
    y = conv(input, filter, strides, paddings, padding_algorithm, groups, dilations, data_format)
    if bias is not None:
        y = y + (bias if data_format == "NHWC" else bias.reshape([-1, 1, 1]))
    return _act(y if residual_data is None else y + residual_data, activation)


def fused_gemm(x, y, bias, residual, trans_x, trans_y, activation):
    out = (np.swapaxes(x, -1, -2) if trans_x else x) @ (np.swapaxes(y, -1, -2) if trans_y else y)
    out = out if bias is None else out + bias
    return _act(out if residual is None else out + residual, activation)


def attention(query, key, value, mask, scale, causal, fill):
    """Head by head, row by row."""
    batch, rows, heads, _ = query.shape
    columns, groups = key.shape[1], heads // key.shape[2]
    mask = None if mask is None else np.broadcast_to(mask, [batch, heads, rows, columns])
    out = np.zeros([*query.shape[:3], value.shape[3]])
    for b, h, i in np.ndindex(batch, heads, rows):
        scores = key[b, :, h // groups] @ query[b, i, h] * scale
        if causal:
            scores[max(0, i + columns - rows + 1) :] = -np.inf
        if mask is not None:
            scores = np.where(mask[b, h, i], scores, fill) if mask.dtype == bool else scores + mask[b, h, i]
        weights = np.exp(scores - scores.max())
        out[b, i, h] = weights @ value[b, :, h // groups] / weights.sum()
    return out


# -- transforms: normalisations are named as NumPy's of the same direction


def _swapped(normalization):
    return {"backward": "forward", "forward": "backward"}.get(normalization, normalization)


def fft_c2c(x, axes, normalization, forward):
    return (np.fft.fftn if forward else np.fft.ifftn)(x, axes=axes, norm=normalization)


def fft_r2c(x, axes, normalization, forward, onesided):
    f = np.fft.rfftn if onesided else np.fft.fftn
    return f(x, axes=axes, norm=normalization) if forward else np.conj(f(x, axes=axes, norm=_swapped(normalization)))


def fft_c2r(x, axes, normalization, forward, last_dim_size):
    n = last_dim_size or 2 * (x.shape[axes[-1]] - 1)
    sizes = [*(x.shape[a] for a in axes[:-1]), n]
    if forward:
        return np.fft.irfftn(np.conj(x), sizes, axes, norm=_swapped(normalization))
    return np.fft.irfftn(x, sizes, axes, norm=normalization)


REFERENCES = {
    "attention": attention,
    "fused_conv2d_add_act": fused_conv,
    "fused_gemm_epilogue": fused_gemm,
    "fft_c2c": fft_c2c,
    "fft_r2c": fft_r2c,
    "fft_c2r": fft_c2r,
    "full_with_tensor": lambda value, shape, dtype: np.full(shape, value.reshape([]), dtype),
    "cross_entropy_with_softmax": lambda input, label, soft_label, use_softmax, numeric_stable_mode, ignore_index, axis: (
        cross_entropy(input, label, soft_label, use_softmax, ignore_index, axis)
    ),
    "conv2d": conv,
    "conv3d": conv,
    "conv2d_transpose": conv_transpose,
    "conv3d_transpose": conv_transpose,
    "pool2d": pool,
    "pool3d": pool,
    "max_pool2d_with_index": max_pool_with_index,
    "max_pool3d_with_index": max_pool_with_index,
    "max_pool_scatter": max_pool_scatter,
    "batch_norm": batch_norm,
    "layer_norm": layer_norm,
    "embedding": embedding,
    "embedding_grad": embedding_grad,
    "softmax_grad": softmax_grad,
    "log_softmax_grad": log_softmax_grad,
    "frame": frame,
    "overlap_add": overlap_add,
    "matmul": lambda x, y, transpose_x, transpose_y: np.matmul(
        np.swapaxes(x, -1, -2) if transpose_x and x.ndim > 1 else x,
        np.swapaxes(y, -1, -2) if transpose_y and y.ndim > 1 else y,
    ),
    "mode": mode,
    "unique_consecutive": unique_consecutive,
    "bincount": lambda x, weights, minlength: np.bincount(x, weights, int(minlength)),
    "eigvals": lambda x: np.sort_complex(np.linalg.eigvals(x)),
    "dropout": lambda x, seed_tensor, p, is_test, mode, seed, fix_seed: (
        x * (p < 1) if mode == "upscale_in_train" else x
    ),
}
