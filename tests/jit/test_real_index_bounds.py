"""Indices that only running tells: every one that NumPy takes, counted from either end, and an IndexError for every other, in reads, in
writes, in compiled groups, branches and loops, with gradients."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from real_core import tensor

X = np.arange(12, dtype="float32").reshape(4, 3) / 5 - 1
ROWS, COLUMNS = 4, 3


def read(x, i):
    return x[i] * 2 + 1


def read_of_rows(x, i):
    return x[1:, i] * x[0, i]


def write_number(x, i):
    y = x * 1
    y[i] = 7.0
    return y


def write_tensor(x, i):
    y = x * 1
    y[i] = x[0] * 2
    return y


def write_in_rows(x, i):
    y = x * 1
    y[::2, i] = x[1:3, 0] * 3
    return y * 2


def write_new_axis(x, i):
    y = x * 1
    y[i, None] = x[:1] * 2
    return y


def add_to(x, i):
    y = x * 1
    y[i] += x[i] * 3
    return y


def view_written(x, i):
    y = x * 1
    y[i][1] = 5.0
    return y


def in_branch(x, i):
    y = x * 1
    if x.sum() < 1e6:
        y[i] = x[i] * 2
    return y


def in_loop(x, i):
    k, y = paddle.zeros([], "int64"), x * 1
    while k < 2:
        y[i] = y[i] * 2 + 1
        k = k + 1
    return y


CASES = {
    read: (ROWS, lambda x, i: x[i] * 2 + 1, lambda x, i, g: _at(x, i, 2 * g)),
    read_of_rows: (
        COLUMNS,
        lambda x, i: x[1:, i] * x[0, i],
        lambda x, i, g: _at(x, (slice(1, None), i), g * x[0, i]) + _at(x, (0, i), (g * x[1:, i]).sum()),
    ),
    write_number: (ROWS, lambda x, i: _set(x, i, 7.0), lambda x, i, g: _set(g, i, 0.0)),
    write_tensor: (
        ROWS,
        lambda x, i: _set(x, i, x[0] * 2),
        lambda x, i, g: _set(g, i, 0.0) + _at(x, 0, 2 * g[i]),
    ),
    write_in_rows: (
        COLUMNS,
        lambda x, i: _set(x, (slice(None, None, 2), i), x[1:3, 0] * 3) * 2,
        lambda x, i, g: 2 * _set(g, (slice(None, None, 2), i), 0.0) + _at(x, (slice(1, 3), 0), 6 * g[::2, i]),
    ),
    write_new_axis: (
        ROWS,
        lambda x, i: _set(x, i, x[0] * 2),
        lambda x, i, g: _set(g, i, 0.0) + _at(x, 0, 2 * g[i]),
    ),
    add_to: (ROWS, lambda x, i: _set(x, i, x[i] * 4), lambda x, i, g: _set(g, i, 4 * g[i])),
    view_written: (ROWS, lambda x, i: _set(x, (i, 1), 5.0), lambda x, i, g: _set(g, (i, 1), 0.0)),
    in_branch: (ROWS, lambda x, i: _set(x, i, x[i] * 2), lambda x, i, g: _set(g, i, 2 * g[i])),
    in_loop: (ROWS, lambda x, i: _set(x, i, x[i] * 4 + 3), lambda x, i, g: _set(g, i, 4 * g[i])),
}


def _at(x, i, values):
    out = np.zeros_like(x)
    out[i] = values
    return out


def _set(x, i, values):
    out = x.copy()
    out[i] = values
    return out


@pytest.mark.parametrize("backend", ["CINN", None])
@pytest.mark.parametrize("dtype", ["int64", "int32"])
@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_every_index(f, dtype, backend):
    size, value, gradient = CASES[f]
    captured = paddle.jit.to_static(f, full_graph=True, backend=backend)
    for i in (1, -1, 0, -size, size - 1, size, -size - 1, size + 5, -size - 5, -2):
        x = tensor(X, grad=True)
        if not -size <= i < size:
            with pytest.raises(IndexError):
                captured(x, paddle.to_tensor(i, dtype=dtype))
            continue
        y = captured(x, paddle.to_tensor(i, dtype=dtype))
        want = value(X, i)
        np.testing.assert_allclose(y.numpy(), want, rtol=1e-5, err_msg=str(i))
        (y * y).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), gradient(X, i, 2 * want), rtol=1e-5, atol=1e-6, err_msg=str(i))
