"""In-place operators whose other operands lie in their target's memory. Right values: the same call with copies of those operands, of the
out-of-place operator by NumPy where it has one."""

import numpy as np
import paddle
import pytest

t = paddle.to_tensor


def fresh(*shape):
    return paddle.arange(1, 1 + int(np.prod(shape)), dtype="float32").reshape(shape)


def rows(n, *order):
    return t(np.array(order, "int64").reshape(n))


# name: (the target, how it is written: f(target, the operand in its memory), the operand in its memory)
CALLS = {
    "add_, backwards": (fresh(5), lambda x, y: x.add_(y), lambda x: x[::-1]),
    "add_, shifted": (fresh(6)[:5], lambda x, y: x.add_(y), None),
    "multiply_, a row": (fresh(3, 4), lambda x, y: x.multiply_(y), lambda x: x[1]),
    "subtract_, an element": (fresh(3, 4), lambda x, y: x.subtract_(y), lambda x: x[0, 0]),
    "divide_, transposed": (fresh(4, 4), lambda x, y: x.divide_(y), lambda x: x.t()),
    "pow_, large": (fresh(40, 40), lambda x, y: x.copysign_(y), lambda x: x.t()),
    "add_, itself": (fresh(7), lambda x, y: x.add_(y), lambda x: x),
    "scatter_": (fresh(4, 3), lambda x, y: x.scatter_(rows(3, 1, 2, 3), y), lambda x: x[:3]),
    "scatter_, adding": (fresh(4, 3), lambda x, y: x.scatter_(rows(3, 0, 1, 1), y, overwrite=False), lambda x: x[1:]),
    "scatter_, itself": (fresh(4, 3), lambda x, y: x.scatter_(rows(4, 1, 2, 3, 0), y), lambda x: x),
    "index_add_": (fresh(4, 3), lambda x, y: x.index_add_(rows(3, 1, 2, 3), 0, y), lambda x: x[:3]),
    "index_put_": (fresh(5), lambda x, y: x.index_put_((rows(4, 1, 2, 3, 4),), y), lambda x: x[:4]),
    "index_put_, adding": (fresh(5), lambda x, y: x.index_put_((rows(4, 1, 2, 3, 4),), y, True), lambda x: x[:4]),
    "put_along_axis_": (fresh(4, 3), lambda x, y: x.put_along_axis_(rows((1, 3), 1, 2, 3), y, 0), lambda x: x[:1]),
    "put_along_axis_, adding": (
        fresh(4, 3),
        lambda x, y: x.put_along_axis_(t(np.array([[1] * 3, [2] * 3, [3] * 3], "int64")), y, 0, "add"),
        lambda x: x[:3],
    ),
    "masked_fill_": (fresh(3, 3), lambda x, y: x.masked_fill_(x > 2, y), lambda x: x[2, 2]),
    "masked_scatter_": (fresh(6), lambda x, y: x.masked_scatter_(t([False] + [True] * 5), y), lambda x: x[:5]),
    "fill_diagonal_tensor_": (fresh(3, 3), lambda x, y: x.fill_diagonal_tensor_(y), lambda x: x[0]),
    "index_fill_": (fresh(3, 3), lambda x, y: x.index_fill_(rows(3, 0, 1, 2), 0, y), lambda x: x[1, 1]),
    "set, forwards": (fresh(6), lambda x, y: x.__setitem__(slice(1, None), y), lambda x: x[:-1]),
    "set, backwards": (fresh(6), lambda x, y: x.__setitem__(slice(None), y), lambda x: x[::-1]),
    "set, transposed": (fresh(4, 4), lambda x, y: x.__setitem__(slice(None), y), lambda x: x.t()),
    "set, by a list": (fresh(6), lambda x, y: x.__setitem__([1, 2, 3], y), lambda x: x[:3]),
    "set, by a mask": (fresh(6), lambda x, y: x.__setitem__(t([False] + [True] * 5), y), lambda x: x[:5]),
    "set_value": (fresh(4, 4), lambda x, y: x.set_value(y), lambda x: x.t()),
    "copy_": (fresh(4, 4), lambda x, y: x.copy_(y, True), lambda x: x.t()),
    "assign": (fresh(4, 4), lambda x, y: paddle.assign(y, x), lambda x: x.t()),
    "lerp_": (fresh(6), lambda x, y: x.lerp_(y, 0.5), lambda x: x[::-1]),
    "where_": (fresh(6), lambda x, y: paddle.where_(x > 3, x, y), lambda x: x[::-1]),
    "addmm_": (fresh(3, 3), lambda x, y: x.addmm_(y, y), lambda x: x.t()),
}
CALLS["add_, shifted"] = (fresh(5), lambda x, y: x[1:].add_(y), lambda x: x[:-1])
INTEGERS = {
    "scatter_, where": lambda x, y: x.scatter_(y, paddle.zeros([3, 1], "int64")),
    "index_add_, where": lambda x, y: x.index_add_(y, 0, paddle.ones([3, 1], "int64")),
    "index_put_, where": lambda x, y: x.index_put_((y,), t(np.array([[7], [8], [9]], "int64"))),
    "put_along_axis_, where": lambda x, y: x.put_along_axis_(y.unsqueeze(1), paddle.zeros([3, 1], "int64"), 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_operands_in_the_target(name):
    start, write, part = CALLS[name]
    x, y = start.clone(), start.clone()
    write(x, part(x))
    write(y, part(y).clone())
    np.testing.assert_array_equal(x.numpy(), y.numpy())


@pytest.mark.parametrize("name", INTEGERS)
def test_indices_in_the_target(name):
    start = t(np.array([[1], [2], [0], [5]], "int64"))
    x, y = start.clone(), start.clone()
    INTEGERS[name](x, x[:3, 0])
    INTEGERS[name](y, y[:3, 0].clone())
    np.testing.assert_array_equal(x.numpy(), y.numpy())


@pytest.mark.parametrize("name", CALLS)
def test_operands_in_the_target_captured(name):
    start, write, part = CALLS[name]

    def f(x):
        z = x * 1
        write(z, part(z))
        write(x, part(x))
        return z

    want = start.clone()
    write(want, part(want).clone())
    x = start.clone()
    got = paddle.jit.to_static(f, full_graph=name != "masked_scatter_")(x)  # which asks how many there are
    np.testing.assert_array_equal(got.numpy(), want.numpy())
    np.testing.assert_array_equal(x.numpy(), want.numpy())


def test_by_numpy():
    a = np.arange(6, dtype="float32")
    x = t(a)
    x[1:] = x[:-1]
    np.testing.assert_array_equal(x.numpy(), [0, 0, 1, 2, 3, 4])
    x = t(a)
    x.add_(x[::-1])
    np.testing.assert_array_equal(x.numpy(), a + a[::-1])
    x = t(a)
    x.scatter_(rows(3, 1, 2, 3), x[:3])
    np.testing.assert_array_equal(x.numpy(), [0, 0, 1, 2, 4, 5])


def test_a_gradient_flows_into_both():
    w = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    x = w * 1
    x.add_(x[::-1])
    (x * t([1.0, 10.0, 100.0])).sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), [101, 20, 101])


def test_interleaved_parts_do_not_disturb_each_other():
    x = fresh(8)
    x[::2].add_(x[1::2])
    np.testing.assert_array_equal(x.numpy(), [3, 2, 7, 4, 11, 6, 15, 8])


@pytest.mark.parametrize("make", [paddle.optimizer.SGD, paddle.optimizer.Momentum, paddle.optimizer.Adam])
def test_a_gradient_that_looks_into_its_parameter(make):
    """The gradient of sum(w * w.T) / 2 is w.T: a view of what the step writes."""
    start = fresh(4, 4)

    def after(apart):
        w = paddle.create_parameter([4, 4], "float32", default_initializer=paddle.nn.initializer.Assign(start))
        o = make(0.1, parameters=[w])
        w.grad = w.t().clone() if apart else w.t()
        o.step()
        return w.numpy()

    np.testing.assert_array_equal(after(False), after(True))


@pytest.mark.parametrize("make", [paddle.optimizer.SGD, paddle.optimizer.Momentum, paddle.optimizer.Adam])
def test_a_captured_step_whose_gradient_looks_into_its_parameter(make):
    start = fresh(4, 4)

    def after(wrap):
        w = paddle.create_parameter([4, 4], "float32", default_initializer=paddle.nn.initializer.Assign(start))
        o = make(0.1, parameters=[w])

        def step():
            loss = (w * w.t()).sum() / 2
            loss.backward()
            o.step()
            o.clear_grad()
            return loss

        run = wrap(step)
        losses = [float(run()) for _ in range(2)]
        return w.numpy(), losses

    (got, losses), (want, expected) = after(lambda f: paddle.jit.to_static(f, full_graph=True)), after(lambda f: f)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    np.testing.assert_allclose(losses, expected, rtol=1e-5)


def test_parameters_that_change_places():
    a, b = paddle.create_parameter([3, 3], "float32"), paddle.create_parameter([3, 3], "float32")
    before = a.numpy(), b.numpy()

    @paddle.jit.to_static(full_graph=True)
    def swap():
        with paddle.no_grad():
            old = a * 1
            a.set_value(b.t())
            b.set_value(old.t())

    swap()
    np.testing.assert_array_equal(a.numpy(), before[1].T)
    np.testing.assert_array_equal(b.numpy(), before[0].T)
