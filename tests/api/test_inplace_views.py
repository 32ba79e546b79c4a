"""In-place writes, views and what was saved for backward. Right values by hand: gradients of small closed forms."""

import numpy as np
import pytest

import paddle


def leaf(values):
    t = paddle.to_tensor(np.asarray(values, "float32"))
    t.stop_gradient = False
    return t


def const(values):
    return paddle.to_tensor(np.asarray(values, "float32"))


def test_a_write_through_a_view_reaches_the_base_and_its_other_views():
    x = const([1, 2, 3, 4])
    a, b = x[1:3], x[2:4]
    a.add_(const([10, 20]))
    np.testing.assert_array_equal(x.numpy(), [1, 12, 23, 4])
    np.testing.assert_array_equal(b.numpy(), [23, 4])


def test_gradient_through_an_in_place_sum_on_a_view():
    w = leaf([1, 2, 3, 4])
    x = w * 1.0
    x[1:3].add_(const([10, 20]))
    (x * x).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), [2, 24, 46, 8])


@pytest.mark.parametrize("captured", [False, True])
def test_gradient_through_a_write_to_the_parts_of_complex_numbers(captured):
    def f(w):
        z = paddle.complex(w * w, w * 3)
        z.real()[0] = w[1] * 5
        z.imag().scale_(2.0)
        return (z.real() * const([3, 4]) + z.imag() * z.imag()).sum()

    w = leaf([1, 2])
    y = (paddle.jit.to_static(f, full_graph=True) if captured else f)(w)
    # 15 w1 + 4 w1^2 + 36 w0^2 + 36 w1^2
    np.testing.assert_allclose(float(y), 30 + 16 + 36 + 144)
    (g,) = paddle.grad(y, w, create_graph=not captured)
    np.testing.assert_allclose(g.numpy(), [72, 15 + 160])
    if not captured:
        np.testing.assert_allclose(paddle.grad(g.sum(), w)[0].numpy(), [72, 80])


def test_gradient_through_an_in_place_product_on_a_view():
    w = leaf([1, 2, 3, 4])
    x = w * 1.0
    x[1:3].multiply_(const([10, 20]))
    (x * x).sum().backward()
    # x = [w0, 10 w1, 20 w2, w3]; d(sum x^2) = 2 x dx
    np.testing.assert_allclose(w.grad.numpy(), [2, 2 * 20 * 10, 2 * 60 * 20, 8])


def test_a_sibling_view_sees_the_new_history():
    w = leaf([1, 2, 3, 4])
    x = w * 1.0
    first, second = x[0:2], x[1:4]
    first.multiply_(const([3, 5]))
    (second * second).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), [0, 2 * 10 * 5, 6, 8])


@pytest.mark.parametrize("target", [lambda w: w, lambda w: w[0:1]])
def test_a_leaf_that_needs_a_gradient_refuses(target):
    w = leaf([1, 2])
    with pytest.raises(ValueError, match="leaf"):
        target(w).add_(const([1]))
    with paddle.no_grad():
        target(w).add_(const([1]))


def test_a_saved_tensor_that_was_overwritten_raises_where_it_is_read():
    w = leaf([1, 2])
    x = w * 1.0
    y = x * x
    x.add_(const([1, 1]))
    with pytest.raises(RuntimeError, match="overwritten"):
        y.sum().backward()


def test_an_overwritten_tensor_that_no_gradient_reads_is_fine():
    w = leaf([1, 2])
    x = w * 1.0
    y = x + x
    x.add_(const([1, 1]))
    y.sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), [2, 2])


def test_setitem_cuts_the_gradient_of_what_it_replaces():
    w = leaf([1, 2, 3])
    x = w * 2.0
    x[1] = 5.0
    (x * x).sum().backward()
    np.testing.assert_array_equal(x.numpy(), [2, 5, 6])
    np.testing.assert_allclose(w.grad.numpy(), [8, 0, 24])


def test_setitem_passes_the_gradient_of_the_value():
    v = leaf([7])
    x = const([1, 2, 3]) * 1.0
    x[0:1] = v
    (x * x).sum().backward()
    np.testing.assert_allclose(v.grad.numpy(), [14])


def test_second_derivative():
    w = leaf([1, 2, 3])
    first = paddle.grad((paddle.tanh(w) * w).sum(), w, create_graph=True)[0]
    (first * first).sum().backward()
    a = np.array([1.0, 2.0, 3.0])
    t = np.tanh(a)
    d1, d2 = t + a * (1 - t * t), 2 * (1 - t * t) - 2 * a * t * (1 - t * t)
    np.testing.assert_allclose(w.grad.numpy(), 2 * d1 * d2, rtol=1e-5)


def test_two_forwards_then_one_backward():
    w = leaf([2])
    a, b = w * w, w * 3.0
    (a + b).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), [7])


def test_a_second_backward_needs_retain_graph():
    w = leaf([2])
    y = (w * w).sum()
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(w.grad.numpy(), [8])
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_attributes_of_a_tensor_survive_while_the_graph_holds_it():
    w = leaf([1, 2])
    h = w * 2.0
    h.tag = "kept"
    y = h * h
    seen = []

    class Probe(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor()
            seen.append(x.tag)
            return g

    Probe.apply(h).sum().backward()
    assert seen == ["kept"] and y.shape == [2]


def test_hooks_change_gradients_in_the_order_of_registration():
    w = leaf([1, 2])
    h = w * 2.0
    h.register_hook(lambda g: g + 1)
    handle = h.register_hook(lambda g: g * 10)
    h.sum().backward(retain_graph=True)
    np.testing.assert_allclose(w.grad.numpy(), [40, 40])  # (1 + 1) * 10 * 2
    handle.remove()
    w.clear_grad()
    h.sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), [4, 4])


def test_grad_never_aliases():
    w = leaf([1, 2])
    seed = const([3, 4])
    (w * 1.0).backward(seed)
    with paddle.no_grad():  # a gradient is a leaf that needs a gradient, as official Paddle has it
        w.grad.add_(const([1, 1]))
    np.testing.assert_array_equal(seed.numpy(), [3, 4])
