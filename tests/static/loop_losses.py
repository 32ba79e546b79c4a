"""Losses from loops for test_loops_by_differences.py, and how such a loss is registered."""

from __future__ import annotations

import paddle


CASES = {}


def case(*shapes):
    """Registers a function from static variables of these shapes (float64) to a loss."""

    def register(f):
        CASES[f.__name__] = (f, shapes)
        return f

    return register


def loop(cond, body, variables):
    return paddle.static.nn.while_loop(cond, body, variables)


def C(v, d="int64"):
    return paddle.full([], v, d)


@case((3,))
def simple(x):
    i, y = loop(lambda i, y: i < 3, lambda i, y: [i + 1, y * y + x], [C(0), x])
    return (y * y).sum()


@case((3,), (3,))
def two(x, w):
    i, y, z = loop(
        lambda i, y, z: i < 4,
        lambda i, y, z: [i + 1, z * w, y + z * x],
        [C(0), x, w * 2],
    )
    return (y * z).sum()


@case((3,))
def nested(x):
    def body(i, y):
        def inner(j, z):
            return [j + 1, z * z * 0.4 + y * x]

        j, z = loop(lambda j, z: j < 2, inner, [C(0), y * 0.5])
        return [i + 1, z + y * 0.2]

    i, y = loop(lambda i, y: i < 3, body, [C(0), x])
    return (y * y).sum()


@case((3,))
def cond_inside(x):
    def body(i, y):
        y = paddle.static.nn.cond(i % 2 == 0, lambda: y * y + x, lambda: y * x * 0.5)
        return [i + 1, y]

    i, y = loop(lambda i, y: i < 4, body, [C(0), x])
    return (y * y).sum()


@case((3,))
def data_dependent(x):
    def body(i, y):
        return [i + 1, y * 1.3 + x.sum() * 0.01]

    i, y = loop(lambda i, y: y.sum() < 12, body, [C(0), x * x + 0.5])
    return (y * y).sum()


@case((3,))
def zero_rounds(x):
    i, y = loop(lambda i, y: i < 0, lambda i, y: [i + 1, y * y], [C(0), x * 2])
    return (y * y).sum()


@case((3,))
def after_use_of_initial(x):
    y0 = x * 2
    i, y = loop(lambda i, y: i < 3, lambda i, y: [i + 1, y * y0 * 0.4], [C(0), y0])
    return (y * y0).sum() + (y0 * y0).sum()


@case((3,), (3, 3))
def matmul_param(x, w):
    i, h = loop(
        lambda i, h: i < 4,
        lambda i, h: [i + 1, paddle.tanh(paddle.matmul(h, w) + x)],
        [C(0), x],
    )
    return (h * h).sum()


@case((4, 3))
def index_rows(x):
    i, h = loop(
        lambda i, h: i < x.shape[0],
        lambda i, h: [i + 1, paddle.tanh(h * x[i] + x[i])],
        [C(0), x[0] * 0.5],
    )
    return (h * h).sum()


@case((3,))
def is_test_dict(x):
    i, d = loop(
        lambda i, d: i < 3,
        lambda i, d: [i + 1, {"a": d["a"] * d["b"], "b": d["b"] + x * 0.2}],
        [C(0), {"a": x, "b": x * 0.5}],
    )
    return (d["a"] * d["b"]).sum()


@case((4, 3))
def scatter_carried(x):
    def body(i, out):
        k = paddle.reshape(i, [1])
        out = paddle.scatter(out, k, paddle.gather(out, k) * paddle.gather(x, k))
        return [i + 1, out]

    i, out = loop(lambda i, out: i < 4, body, [C(0), x * 0.5])
    return (out * out).sum()


@case((3,))
def swapped(x):
    i, a, b = loop(lambda i, a, b: i < 3, lambda i, a, b: [i + 1, b, a * b], [C(0), x, x * 0.7])
    return (a * b).sum()


@case((3,))
def same_var_twice(x):
    y = x * 2
    i, a, b = loop(lambda i, a, b: i < 3, lambda i, a, b: [i + 1, a * b, b + a], [C(0), y, y])
    return (a * b).sum()


@case((3,))
def body_ignores_args(x):
    y = x * 1.0
    i, z = loop(lambda i, z: i < 3, lambda i, z: [i + 1, y * x + y], [C(0), y])
    return (z * z).sum()


@case((3,))
def cumulative_list(x):
    i, ys = loop(
        lambda i, ys: i < 3,
        lambda i, ys: [i + 1, [ys[0] * ys[1], ys[1] + ys[0]]],
        [C(0), [x, x * 0.3]],
    )
    return (ys[0] * ys[1]).sum()


@case((2, 3))
def view_outer_before_loop(x):
    b = x * 1.0
    v = b[0]

    def body(i, y):
        u = v * y
        v.multiply_(y)
        return [i + 1, y * 0.5 + b[1] * v + u]

    i, y = loop(lambda i, y: i < 3, body, [C(0), x[0] * 1.0])
    return (y * y).sum() + (b * b).sum() + (v * b[1]).sum()


@case((2, 3))
def unbind_outer(x):
    b = x * 1.0
    u, v = paddle.unbind(b, 0)

    def body(i, y):
        u.multiply_(v * y)
        return [i + 1, y * 0.5 + b[0] * v]

    i, y = loop(lambda i, y: i < 3, body, [C(0), x[0] * 1.0])
    return (y * y).sum() + (b * b).sum() + (u * v).sum()


@case((3,))
def second_order(x):
    y = x * 1.0

    def body(i):
        paddle.assign(y * y * 0.5 + x, output=y)
        return [i + 1]

    loop(lambda i: i < 2, body, [C(0)])
    (g,) = paddle.static.gradients([(y * y).sum()], [x])
    return (g * g).sum()
