"""Products, losses, channels and normalisation in NumPy, straight from their definitions."""

from __future__ import annotations

import numpy as np


def _log_safe(x):
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(x), -100.0)


def _kldiv(x, label, reduction, log_target):
    if log_target:
        loss = np.exp(label) * (label - x)
    else:
        loss = np.where(label > 0, label * (np.log(np.where(label > 0, label, 1)) - x), 0.0)
    if reduction == "batchmean":
        return loss.sum() / x.shape[0]
    return {"none": loss, "sum": loss.sum(), "mean": loss.mean()}[reduction]


def _huber(input, label, delta):
    r = np.abs(label - input)
    return np.where(r <= delta, r * r / 2, delta * (r - delta / 2))


def _sigmoid_cross_entropy(x, label, pos_weight, normalize, ignore_index):
    p = 1 / (1 + np.exp(-x))
    weight = 1.0 if pos_weight is None else pos_weight
    loss = -(weight * label * np.log(p) + (1 - label) * np.log(1 - p))
    keep = label != ignore_index
    loss = np.where(keep, loss, 0.0)
    return loss / keep.sum() if normalize else loss


def _nll(input, label, weight, ignore_index, reduction):
    weight = np.ones(input.shape[1]) if weight is None else weight
    loss, total = np.zeros(label.shape), 0.0
    for at in np.ndindex(label.shape):
        k = label[at]
        if k != ignore_index:
            loss[at] = -input[(at[0], k, *at[1:])] * weight[k]
            total += weight[k]
    return {"none": loss, "sum": loss.sum(), "mean": loss.sum() / total}[reduction]


def _label_smooth(label, prior_dist, epsilon):
    return (1 - epsilon) * label + epsilon * (1 / label.shape[-1] if prior_dist is None else prior_dist)


def _first(f):
    """f takes images with the channels first."""

    def g(x, factor, data_format):
        last = data_format == "NHWC"
        out = f(np.moveaxis(x, -1, 1) if last else x, factor)
        return np.moveaxis(out, 1, -1) if last else out

    return g


def _pixel_shuffle(x, r):
    n, c, h, w = x.shape
    out = np.zeros([n, c // (r * r), h * r, w * r])
    for i in range(r):
        for j in range(r):
            out[:, :, i::r, j::r] = x[:, i * r + j :: r * r]
    return out


def _pixel_unshuffle(x, r):
    n, c, h, w = x.shape
    out = np.zeros([n, c * r * r, h // r, w // r])
    for i in range(r):
        for j in range(r):
            out[:, i * r + j :: r * r] = x[:, :, i::r, j::r]
    return out


def _channel_shuffle(x, groups):
    size = x.shape[1] // groups
    return x[:, [g * size + k for k in range(size) for g in range(groups)]]


def _maxout(x, groups, axis):
    x = np.moveaxis(x, axis, 0)
    return np.moveaxis(np.stack([x[i : i + groups].max(0) for i in range(0, len(x), groups)]), 0, axis)


def _scaled(y, scale, bias):
    shape = [1, -1] + [1] * (y.ndim - 2)
    y = y if scale is None else y * scale.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def _group_norm(x, scale, bias, epsilon, groups, data_format):
    last = data_format == "NHWC"
    x = np.moveaxis(x, -1, 1) if last else x
    parts = [
        (p - p.mean(axis=tuple(range(1, x.ndim)), keepdims=True))
        / np.sqrt(p.var(axis=tuple(range(1, x.ndim)), keepdims=True) + epsilon)
        for p in np.split(x, groups, 1)
    ]
    y = _scaled(np.concatenate(parts, 1), scale, bias)
    return np.moveaxis(y, 1, -1) if last else y


def _instance_norm(x, scale, bias, epsilon):
    axes = tuple(range(2, x.ndim))
    return _scaled(
        (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + epsilon), scale, bias
    )


def _eigvalsh(x, uplo, is_test):
    return np.linalg.eigvalsh(x, uplo)


def _depthwise(input, filter, strides, paddings, padding_algorithm, groups, dilations, data_format):
    top, left = paddings
    x = np.pad(input, [(0, 0), (0, 0), (top, top), (left, left)])
    kh, kw = filter.shape[2:]
    rows, columns = x.shape[2] - kh + 1, x.shape[3] - kw + 1
    out = np.zeros([x.shape[0], filter.shape[0], rows, columns])
    for r in range(rows):
        for c in range(columns):
            out[:, :, r, c] = (x[:, :, r : r + kh, c : c + kw] * filter[:, 0]).sum((2, 3))
    return out


REFERENCES = {
    "bmm": lambda x, y: x @ y,
    "mv": lambda x, vec: x @ vec,
    "dot": lambda x, y: (x * y).sum(-1),
    "addmm": lambda input, x, y, beta, alpha: beta * input + alpha * (x @ y),
    "kron": lambda x, y: np.kron(x, y),
    "trace": lambda x, offset, axis1, axis2: np.trace(x, offset, axis1, axis2),
    "mean_all": lambda x: x.mean(),
    "bce_loss": lambda input, label: -(label * _log_safe(input) + (1 - label) * _log_safe(1 - input)),
    "kldiv_loss": _kldiv,
    "huber_loss": _huber,
    "log_loss": lambda input, label, epsilon: (
        -label * np.log(input + epsilon) - (1 - label) * np.log(1 - input + epsilon)
    ),
    "sigmoid_cross_entropy_with_logits": _sigmoid_cross_entropy,
    "nll_loss": _nll,
    "label_smooth": _label_smooth,
    "pixel_shuffle": lambda x, upscale_factor, data_format: _first(_pixel_shuffle)(x, upscale_factor, data_format),
    "pixel_unshuffle": lambda x, downscale_factor, data_format: _first(_pixel_unshuffle)(
        x, downscale_factor, data_format
    ),
    "channel_shuffle": lambda x, groups, data_format: _first(_channel_shuffle)(x, groups, data_format),
    "maxout": _maxout,
    "depthwise_conv2d": _depthwise,
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
    "eigvalsh": _eigvalsh,
}
