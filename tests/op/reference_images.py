"""Patches, resampling, grids, recurrent networks: written out as loops over elements, as their definitions read."""

from __future__ import annotations

import math

import numpy as np

# -- patches


def _patches(height, width, kernel, strides, paddings, dilations):
    """(row of the columns, column of the columns, y, x) of every element of every patch that lies inside the image."""
    top, left, bottom, right = paddings
    rows = (height + top + bottom - dilations[0] * (kernel[0] - 1) - 1) // strides[0] + 1
    columns = (width + left + right - dilations[1] * (kernel[1] - 1) - 1) // strides[1] + 1
    places = []
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            for r in range(rows):
                for c in range(columns):
                    y, x = r * strides[0] + i * dilations[0] - top, c * strides[1] + j * dilations[1] - left
                    if 0 <= y < height and 0 <= x < width:
                        places.append((i * kernel[1] + j, r * columns + c, y, x))
    return places, rows * columns


def unfold(x, kernel_sizes, strides, paddings, dilations):
    n, c, h, w = x.shape
    places, count = _patches(h, w, kernel_sizes, strides, paddings, dilations)
    out = np.zeros([n, c, kernel_sizes[0] * kernel_sizes[1], count])
    for tap, patch, y, at in places:
        out[:, :, tap, patch] = x[:, :, y, at]
    return out.reshape([n, -1, count]) if n else out.reshape([0, c * kernel_sizes[0] * kernel_sizes[1], count])


def fold(x, output_sizes, kernel_sizes, strides, paddings, dilations):
    places, count = _patches(*output_sizes, kernel_sizes, strides, paddings, dilations)
    taps = kernel_sizes[0] * kernel_sizes[1]
    x = x.reshape([x.shape[0], -1, taps, count])
    out = np.zeros([x.shape[0], x.shape[1], *output_sizes])
    for tap, patch, y, at in places:
        out[:, :, y, at] += x[:, :, tap, patch]
    return out


def prelu(x, alpha, data_format, mode):
    if mode == "channel":
        shape = [1] * x.ndim
        shape[1 if data_format == "NCHW" else -1] = -1
        alpha = alpha.reshape(shape)
    return np.where(x > 0, x, x * alpha)


# -- resampling


def _source(i, n, m, scale, align_corners, half_pixel):
    if align_corners:
        ratio = (n - 1) / (m - 1) if m > 1 else 0.0
    else:
        ratio = 1 / scale if scale else n / m
    return ratio * (i + 0.5) - 0.5 if half_pixel and not align_corners else ratio * i


def _keys(d, a):
    d = abs(d)
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a if d < 2 else 0.0


def _weights(i, n, m, scale, method, align_corners, align_mode):
    """{element of the input: weight} for element i of the result."""
    if method == "nearest":
        s = _source(i, n, m, scale, align_corners, False)
        return {min(math.floor(s + 0.5 if align_corners else s), n - 1): 1.0}
    if method == "bicubic":
        s = _source(i, n, m, scale, align_corners, True)
        low, found = math.floor(s), {}
        for k in range(low - 1, low + 3):
            at = min(max(k, 0), n - 1)
            found[at] = found.get(at, 0.0) + _keys(s - k, -0.75)
        return found
    s = max(_source(i, n, m, scale, align_corners, align_mode == 0), 0.0)
    low = min(math.floor(s), n - 1)
    found = {low: 1 - (s - math.floor(s))}
    high = min(low + 1, n - 1)
    found[high] = found.get(high, 0.0) + (s - math.floor(s))
    return found


def _widened(i, n, m, method, align_corners):
    """The same for a filter that widens where it shrinks."""
    ratio = (n - 1) / (m - 1) if align_corners and m > 1 else n / m
    s = _source(i, n, m, 0, align_corners, True)
    stretch = max(ratio, 1.0)
    raw = [
        (_keys((k - s) / stretch, -0.5) if method == "bicubic" else max(0.0, 1 - abs(k - s) / stretch))
        for k in range(n)
    ]
    return {k: w / sum(raw) for k, w in enumerate(raw)}


def interpolation(antialias=False):
    def f(
        x, out_size, size_tensor, scale_tensor, data_format, out_d, out_h, out_w, scale, interp_method, align_corners,
        align_mode,
    ):  # fmt: skip
        last = data_format in ("NHWC", "NDHWC")
        n = x.ndim - 2
        x = np.moveaxis(x, -1, 1) if last else x
        sizes = x.shape[2:]
        if out_size is not None:
            target = [int(s) for s in out_size]
        elif scale:
            target = [int(s * f) for s, f in zip(sizes, scale * n if len(scale) == 1 else scale)]
        else:
            target = [out_d, out_h, out_w][3 - n :]
        for k, (size, m) in enumerate(zip(sizes, target)):
            factor = (scale * n if len(scale) == 1 else scale)[k] if scale else 0
            matrix = np.zeros([m, size])
            for i in range(m):
                if antialias:
                    weights = _widened(i, size, m, interp_method, align_corners)
                else:
                    weights = _weights(i, size, m, factor, interp_method, align_corners, align_mode)
                for at, w in weights.items():
                    matrix[i, at] = w
            x = np.moveaxis(np.tensordot(matrix, x, axes=(1, k + 2)), 0, k + 2)
        return np.moveaxis(x, 1, -1) if last else x

    return f


# -- grids


def affine_grid(input, output_shape, align_corners):
    sizes = output_shape[2:]
    axes = []
    for s in sizes:
        if align_corners:
            axes.append(np.linspace(-1, 1, s) if s > 1 else np.array([-1.0]))
        else:
            axes.append((2 * np.arange(s) + 1) / s - 1)
    mesh = np.meshgrid(*axes, indexing="ij")
    points = np.stack([*mesh[::-1], np.ones(sizes)], -1)
    return np.einsum("...k,njk->n...j", points, input)


def _in_range(p, size, padding_mode, align_corners):
    if padding_mode == "border":
        return min(max(p, 0.0), size - 1)
    if padding_mode == "reflection":
        low, high = (0.0, size - 1.0) if align_corners else (-0.5, size - 0.5)
        while p < low or p > high:
            p = 2 * low - p if p < low else 2 * high - p
        return min(max(p, 0.0), size - 1)
    return p


def grid_sample(x, grid, mode, padding_mode, align_corners):
    n = x.ndim - 2
    sizes = x.shape[2:]
    out = np.zeros([*x.shape[:2], *grid.shape[1:-1]])
    for b in range(x.shape[0]):
        for point in np.ndindex(grid.shape[1:-1]):
            places = []
            for k in range(n):
                g = grid[(b, *point, n - 1 - k)]
                p = (g + 1) / 2 * (sizes[k] - 1) if align_corners else ((g + 1) * sizes[k] - 1) / 2
                places.append(_in_range(p, sizes[k], padding_mode, align_corners))
            low = [round(p) if mode == "nearest" else math.floor(p) for p in places]
            for corner in np.ndindex((1,) * n if mode == "nearest" else (2,) * n):
                at = [a + c for a, c in zip(low, corner)]
                weight = 1.0
                if mode != "nearest":
                    for p, a, c in zip(places, low, corner):
                        weight *= p - a if c else 1 - (p - a)
                if all(0 <= a < s for a, s in zip(at, sizes)):
                    out[(b, slice(None), *point)] += weight * x[(b, slice(None), *at)]
    return out


# -- recurrent networks


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _step(mode, x, h, c, w, u, b, d):
    if mode == "GRU":
        xr, xz, xc = np.split(w @ x + b, 3)
        hr, hz, hc = np.split(u @ h + d, 3)
        r, z = _sigmoid(xr + hr), _sigmoid(xz + hz)
        return z * h + (1 - z) * np.tanh(xc + r * hc), None
    gates = w @ x + b + u @ h + d
    if mode == "LSTM":
        i, f, g, o = np.split(gates, 4)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        return _sigmoid(o) * np.tanh(c), c
    return (np.maximum(gates, 0) if mode == "RNN_RELU" else np.tanh(gates)), None


def rnn(
    x, pre_state, weight_list, sequence_length, dropout_state_in, dropout_prob, is_bidirec, input_size, hidden_size,
    num_layers, mode, seed, is_test,
):  # fmt: skip
    """[outputs, the states]; dropout is not applied."""
    steps, batch, _ = x.shape
    ways = 2 if is_bidirec else 1
    states = [np.array(s, np.float64) for s in pre_state]
    half = len(weight_list) // 2
    for layer in range(num_layers):
        out = np.zeros([steps, batch, ways * hidden_size])
        for way in range(ways):
            at = layer * ways + way
            w, u, b, d = (weight_list[k] for k in (2 * at, 2 * at + 1, half + 2 * at, half + 2 * at + 1))
            for n in range(batch):
                length = steps if sequence_length is None else int(sequence_length[n])
                h, c = states[0][at, n], states[1][at, n] if mode == "LSTM" else None
                for t in range(length)[:: -1 if way else 1]:
                    h, c = _step(mode, x[t, n], h, c, w, u, b, d)
                    out[t, n, way * hidden_size : (way + 1) * hidden_size] = h
                states[0][at, n] = h
                if mode == "LSTM":
                    states[1][at, n] = c
        x = out
    return [x, *states]
