"""What goes from one segment of an interrupted capture to the next: sizes, and the history of gradients."""

from __future__ import annotations

import numpy as np
import paddle
from real_core import close, tensor

RANDOM = np.random.RandomState(4)


def test_open_sizes_stay_open_after_an_interruption():
    @paddle.jit.to_static
    def f(x):
        y = x * 2
        s = float(y.sum())
        z = y.reshape([y.shape[0] * 3]) * s
        if float(z.sum()) > 0:
            z = z + 1
        return paddle.concat([z, x.reshape([-1])]), y.shape[0]

    compiled = []
    for n in (2, 3, 4, 5, 7):
        x = RANDOM.rand(n, 3).astype("float32")
        t = tensor(x, True)
        out, rows = f(t)
        z = (2 * x).reshape(-1) * (2 * x).sum() + 1
        close(out, np.concatenate([z, x.reshape(-1)]), rtol=1e-4)
        assert type(rows) is int and rows == n
        out.sum().backward()
        close(t.grad, np.full((n, 3), 2 * (2 * x).sum() + 1), rtol=1e-4)  # float() is a constant
        compiled.append(f._segments.size)
    assert compiled[2:] == [compiled[2]] * 3  # the numbers of the first two calls made them open


def test_gradients_of_values_that_were_made_of_each_other():
    """y = 2 a x; each round y += 0.1 dL/dx with L = y ** 2: by hand, y = k x and k grows by 0.2 k ** 2."""

    def f(x, rounds):
        y = x * 2
        for _ in range(rounds):
            float(y.sum())
            (g,) = paddle.grad((y * y).sum(), x, create_graph=True)
            y = y + g * 0.1
        return y

    x = tensor([0.5, -1.0], True)
    k = 2.0
    for _ in range(3):
        k += 0.2 * k * k
    out = paddle.jit.to_static(f)(x, 3)
    close(out, [0.5 * k, -k], rtol=1e-4)
    out.sum().backward()
    close(x.grad, [k, k], rtol=1e-4)


def test_a_program_whose_inputs_were_made_of_each_other():
    """The second order through a whole program: an input that another one was made from counts once."""
    f = paddle.jit.to_static(lambda a, b: (a + 0.1 * b) ** 2, full_graph=True)
    x = tensor([1.5], True)
    a = x * x
    b = a * a
    (g,) = paddle.grad(f(a, b), x, create_graph=True)
    v = 1.5
    s, ds = v**2 + 0.1 * v**4, 2 * v + 0.4 * v**3
    close(g, [2 * s * ds])
    (h,) = paddle.grad(g, x)
    close(h, [2 * ds * ds + 2 * s * (2 + 1.2 * v**2)])
