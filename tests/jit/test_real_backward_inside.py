"""``backward()`` inside a captured function, after loops whose number of rounds a tensor tells: results, ``x.grad`` read there, and what
``.grad`` of the argument is afterwards."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from real_core import I0, I, N, P, argument, leaves, same, static


def read_after_while(x, n):
    y = x * 1
    i = paddle.zeros([], "int64")
    while i < n:
        y = y * x
        i = i + 1
    (y * y).sum().backward()
    return x.grad * 2


def not_read(x, n):
    y = x * 1
    for i in range(n):
        y = y * x + i
    loss = (y * y).sum()
    loss.backward()
    return loss


def read_after_range(x, n):
    y = x * 1
    for i in range(n):
        y = y * x + i
    loss = (y * y).sum()
    loss.backward()
    g = x.grad
    return g * g, loss


def of_a_grown_list(x, n):
    ys = [x]
    for _ in range(n):
        ys.append(ys[-1] * x)
    paddle.stack(ys).sum().backward()
    return x.grad + 1


def twice_with_a_clear_between(x, n):
    y = x * 1
    for _ in range(n):
        y = y * x
    (y * y).sum().backward()
    g = x.grad.clone()
    x.clear_grad()
    (x * x).sum().backward()
    return g, x.grad


def of_a_grad(x, n):
    y = x * 1
    for _ in range(n):
        y = y * x
    (g,) = paddle.grad((y * y).sum(), [x], create_graph=True)
    (g * g).sum().backward()
    return x.grad * 1


def run(f, args):
    args = [argument(v) for v in args]
    out = [v.numpy() if isinstance(v, paddle.Tensor) else v for v in leaves(f(*args))]
    return [*out, args[0].grad.numpy() if args[0].grad is not None else None]


@pytest.mark.parametrize(
    "f", [read_after_while, not_read, read_after_range, of_a_grown_list, twice_with_a_clear_between, of_a_grad]
)
def test_results_and_gradients_of_arguments(f):
    compiled = static(f)
    for args in ([P, I], [N, I], [P, I0], [P, np.array(5)]):
        same(run(compiled, args), run(f, args))


def test_gradients_of_arguments_add_up_over_calls():
    compiled = static(not_read)
    a, b = argument(P), argument(P)
    for _ in range(3):
        compiled(a, argument(I))
        not_read(b, argument(I))
        same([a.grad.numpy()], [b.grad.numpy()])
