"""Losses from loops whose bodies write: loop variables and variables from outside, by assignment, in place and through views."""

from __future__ import annotations

import paddle
from loop_losses import C, case, loop


@case((3,))
def outer_written_setitem(x):
    buf = x * 1.0

    def body(i, y):
        buf[0] = y.sum() * 0.5
        return [i + 1, y + buf * 0.3]

    i, y = loop(lambda i, y: i < 3, body, [C(0), x * 0.5])
    return (y * y).sum() + (buf * buf).sum()


@case((3,))
def carried_setitem(x):
    def body(i, b):
        b[i] = b.sum() * 0.3
        return [i + 1, b]

    i, b = loop(lambda i, b: i < 3, body, [C(0), x * 1.0])
    return (b * b * b).sum()


@case((3,))
def carried_setitem_used_before(x):
    def body(i, b, a):
        a = a + b * b
        b[0] = a.sum() * 0.2
        a = a * b
        return [i + 1, b, a]

    i, b, a = loop(lambda i, b, a: i < 3, body, [C(0), x * 1.0, x * 0.3])
    return (b * b).sum() + (a * a).sum()


@case((3,))
def assign_out(x):
    y = x * 1.0

    def body(i):
        paddle.assign(y * y * 0.5 + x, output=y)
        return [i + 1]

    loop(lambda i: i < 3, body, [C(0)])
    return (y * y).sum()


@case((3,))
def assign_out_before_use(x):
    y = x * 1.0

    def body(i, s):
        t = y * s
        paddle.assign(t + x, output=y)
        return [i + 1, s + y * t]

    i, s = loop(lambda i, s: i < 3, body, [C(0), x * 0.5])
    return (s * s).sum()


@case((3,))
def increment_inplace(x):
    def body(i, y):
        y = y * (1 + paddle.cast(i, "float64")) + x
        paddle.increment(i)
        return [i, y]

    i, y = loop(lambda i, y: i < 3, body, [paddle.full([1], 0, "int64"), x])
    return (y * y).sum()


@case((3,))
def add_inplace(x):
    def body(i, y):
        z = y * y
        y.add_(z * 0.3)
        return [i + 1, y * 0.9 + z]

    i, y = loop(lambda i, y: i < 3, body, [C(0), x * 1.0])
    return (y * y).sum()


@case((3,))
def outer_add_inplace(x):
    acc = x * 0.5

    def body(i, y):
        acc.add_(y * acc)
        return [i + 1, y * 0.9 + acc]

    i, y = loop(lambda i, y: i < 3, body, [C(0), x * 1.0])
    return (y * y).sum() + acc.sum()


@case((2, 3))
def view_in_loop(x):
    b = x * 1.0

    def body(i, y):
        v = b[0]
        v.multiply_(y)
        return [i + 1, y * 0.5 + b[1] * v]

    i, y = loop(lambda i, y: i < 3, body, [C(0), x[0] * 1.0])
    return (y * y).sum() + (b * b).sum()


@case((3,))
def cond_writes_inside(x):
    b = x * 1.0

    def body(i, y):
        def grow():
            paddle.assign(b * y, output=b)

        def add():
            paddle.assign(b + y * y, output=b)

        paddle.static.nn.cond(i % 2 == 0, grow, add)
        return [i + 1, y * 0.5 + b]

    i, y = loop(lambda i, y: i < 4, body, [C(0), x * 0.5])
    return (y * b).sum()


@case((4, 3))
def array(x):
    arr = paddle.tensor.create_array("float64")
    i0 = C(0)
    paddle.tensor.array_write(x[0], i0, arr)

    def body(i, a):
        p = paddle.tensor.array_read(a, i)
        paddle.tensor.array_write(p * x[1] + p * p * 0.2, i + 1, a)
        return [i + 1, a]

    i, a = loop(lambda i, a: i < 3, body, [i0, arr])
    return (paddle.tensor.array_read(a, i) ** 2).sum()


@case((3,))
def while_class(x):
    i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
    y = x * 1.0
    cond = paddle.less_than(i, n)
    w = paddle.static.nn.control_flow.While(cond)
    with w.block():
        z = y * y * 0.5
        paddle.assign(z + x, output=y)
        paddle.increment(i)
        paddle.assign(paddle.less_than(i, n), output=cond)
    return (y * y).sum()


@case((3,))
def while_class_two(x):
    i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
    y, s = x * 1.0, x * 0.2
    cond = paddle.less_than(i, n)
    w = paddle.static.nn.control_flow.While(cond)
    with w.block():
        paddle.assign(s * y + s, output=s)
        paddle.assign(y * 0.7 + s * s, output=y)
        paddle.increment(i)
        paddle.assign(paddle.less_than(i, n), output=cond)
    return (y * s).sum()


@case((3,))
def while_class_setitem(x):
    i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
    y = x * 1.0
    cond = paddle.less_than(i, n)
    w = paddle.static.nn.control_flow.While(cond)
    with w.block():
        y[0] = (y * y).sum() * 0.2
        y[1:] = y[1:] * y[0]
        paddle.increment(i)
        paddle.assign(paddle.less_than(i, n), output=cond)
    return (y * y).sum()


@case((3,))
def two_loops(x):
    y = x * 1.0

    def body(i):
        paddle.assign(y * y * 0.5 + x, output=y)
        return [i + 1]

    loop(lambda i: i < 2, body, [C(0)])
    z = y * x
    loop(lambda i: i < 2, body, [C(0)])
    return (y * z).sum()


@case((3,))
def grads_inside_after(x):
    y = x * 1.0

    def body(i, s):
        paddle.assign(y * s, output=y)
        u = y * 2
        paddle.assign(u + x, output=y)
        return [i + 1, s * 0.9 + u * y]

    i, s = loop(lambda i, s: i < 3, body, [C(0), x * 0.4])
    return (s * y).sum()


@case((3,))
def nested_outer_write(x):
    y = x * 1.0

    def body(i):
        def inner(j):
            paddle.assign(y * y * 0.3 + x, output=y)
            return [j + 1]

        loop(lambda j: j < 2, inner, [C(0)])
        paddle.assign(y * x, output=y)
        return [i + 1]

    loop(lambda i: i < 2, body, [C(0)])
    return (y * y).sum()


@case((3,))
def cond_reads_written(x):
    y = x * 1.0

    def body(i):
        paddle.assign(y * 1.4 + x * 0.1, output=y)
        return [i + 1]

    loop(lambda i: (y * y).sum() < 20, body, [C(0)])
    return (y * y).sum()


@case((4, 3))
def closure_index(x):
    k = paddle.full([], 0, "int64")

    def body(i, h):
        h = paddle.tanh(h * x[k] + x[k])
        paddle.assign(k + 1, output=k)
        return [i + 1, h]

    i, h = loop(lambda i, h: i < 4, body, [C(0), x[0] * 0.5])
    return (h * h).sum()


@case((4, 3))
def closure_gather(x):
    k = paddle.full([1], 0, "int64")

    def body(i, h):
        h = h * paddle.gather(x, k)[0] + 0.1
        paddle.increment(k)
        return [i + 1, h]

    i, h = loop(lambda i, h: i < 4, body, [C(0), x[0] * 0.5])
    return (h * h).sum()


@case((4, 3))
def while_class_index(x):
    i, n = paddle.full([1], 0, "int64"), paddle.full([1], 4, "int64")
    y = x[0] * 1.0
    cond = paddle.less_than(i, n)
    w = paddle.static.nn.control_flow.While(cond)
    with w.block():
        paddle.assign(y * paddle.gather(x, i)[0] + y * y * 0.1, output=y)
        paddle.increment(i)
        paddle.assign(paddle.less_than(i, n), output=cond)
    return (y * y).sum()


@case((4, 3))
def set_rows(x):
    out = paddle.zeros([4, 3], "float64")

    def body(i, h):
        h = h * x[i]
        out[i] = h * h
        return [i + 1, h]

    i, h = loop(lambda i, h: i < 4, body, [C(0), x[0] * 0.5])
    return (h * h).sum() + (out * x).sum()


@case((4, 3))
def set_rows_carried(x):
    def body(i, h, out):
        h = h * x[i]
        out[i] = h * h + out[i]
        return [i + 1, h, out]

    i, h, out = loop(lambda i, h, out: i < 4, body, [C(0), x[0] * 0.5, x * 0.5])
    return (h * h).sum() + (out * out * x).sum()


@case((3,))
def scale_by_written_scalar(x):
    s = paddle.full([], 1.0, "float64")

    def body(i, y):
        y = y * s + x
        paddle.assign(s * 0.5, output=s)
        return [i + 1, y]

    i, y = loop(lambda i, y: i < 4, body, [C(0), x])
    return (y * y * s).sum()


@case((3,))
def mask_written(x):
    m = paddle.full([3], 1.0, "float64") > 0

    def body(i, y):
        y = paddle.where(m, y * y, y * 0.5 + x)
        paddle.assign(y > 0.2, output=m)
        return [i + 1, y]

    i, y = loop(lambda i, y: i < 4, body, [C(0), x])
    return (y * y).sum()


@case((3,))
def same_var_twice_inplace(x):
    y = x * 2

    def body(i, a, b):
        a.multiply_(b)
        return [i + 1, a, b + a * 0.1]

    i, a, b = loop(lambda i, a, b: i < 3, body, [C(0), y, y * 1.0])
    return (a * b).sum()


@case((3,))
def outer_written_after_loop(x):
    y = x * 1.0
    i, z = loop(lambda i, z: i < 3, lambda i, z: [i + 1, z * y], [C(0), x])
    paddle.assign(y * 3, output=y)
    return (z * z * y).sum()


@case((3,))
def outer_written_between(x):
    y = x * 1.0
    paddle.assign(y * 3, output=y)
    i, z = loop(lambda i, z: i < 3, lambda i, z: [i + 1, z * y], [C(0), x])
    return (z * z * y).sum()


@case((3,))
def write_twice_in_body(x):
    y = x * 1.0

    def body(i, z):
        a = y * z
        y[0] = a.sum()
        b = y * a
        y[1] = b.sum() * 0.3
        c = y * b
        return [i + 1, c * 0.4 + z]

    i, z = loop(lambda i, z: i < 3, body, [C(0), x * 0.5])
    return (z * y).sum()
