"""What the tests on the real core share: tensors, and functions compared as eager runs them and captured whole."""

from __future__ import annotations

import numpy as np
import paddle
from paddle.autograd import PyLayer
from paddle.jit.dy2static.errors import Dy2StaticError

P = np.array([0.5, 1.5, 2.0], "float32")
N = -P
I = np.array(3, "int64")  # noqa: E741
I0 = np.array(0, "int64")


# What says that a function can't be captured whole.
REFUSALS = (NotImplementedError, Dy2StaticError, paddle._core.trace.GraphBreak)


def static(fn):
    return paddle.jit.to_static(fn, full_graph=True)


def tensor(values, grad=False, dtype="float32"):
    t = paddle.to_tensor(np.asarray(values, dtype=dtype))
    t.stop_gradient = not grad
    return t


def close(t, expected, rtol=1e-5, atol=1e-6):
    np.testing.assert_allclose(t.numpy(), expected, rtol=rtol, atol=atol)


def argument(v, grad=True):
    if not isinstance(v, np.ndarray):
        return v
    t = paddle.to_tensor(v)
    t.stop_gradient = not (grad and v.dtype.kind == "f")
    return t


def leaves(value):
    if isinstance(value, dict):
        return [x for k in value for x in [k, *leaves(value[k])]]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *(x for v in value for x in leaves(v))]
    return [value]


def outcome(f, args, kwargs=None):
    """The leaves of ``f``'s result, and the gradients of the sum of their squares with respect to the arguments."""
    args = [argument(a) for a in args]
    kwargs = {k: argument(v) for k, v in (kwargs or {}).items()}
    result = f(*args, **kwargs)
    out = leaves(result)
    roots = [v for v in out if isinstance(v, paddle.Tensor) and not v.stop_gradient]
    if roots:
        sum((v * v).sum() for v in roots).backward()
    grads = [a.grad for a in args if isinstance(a, paddle.Tensor)]
    return [v.numpy() if isinstance(v, paddle.Tensor) else v for v in [*out, *grads]]


def same(a, b, rtol=2e-5):
    assert len(a) == len(b), (a, b)
    for x, y in zip(a, b):
        if isinstance(y, np.ndarray):
            assert x is not None and x.dtype == y.dtype, (x, y)
            np.testing.assert_allclose(x, y, rtol=rtol, atol=1e-6)
        elif isinstance(x, np.ndarray) and y is None:
            assert not x.any()  # a gradient that nothing reaches: none, or zeros
        else:
            assert x == y or x is y, (x, y)


def check(f, *calls, **kwargs):
    """``f`` captured whole gives what eager gives, for each of ``calls`` (lists of arguments), twice over."""
    compiled = static(f)
    for _ in range(2):
        for args in calls:
            same(outcome(compiled, args, kwargs), outcome(f, args, kwargs))
    return compiled


class Cube(PyLayer):
    """x ** 3 with a gradient of its own (twice the true one), so that a derived gradient would be seen."""

    @staticmethod
    def forward(ctx, x, scale=2.0):
        ctx.scale = scale
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return g * 3 * x * x * ctx.scale
