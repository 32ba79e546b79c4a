"""Gradients of loops in static programs against finite differences: loop variables and variables from outside, written in the body
by assignment, in place and through views, before and after they are read; ``gradients`` of inputs, ``append_backward`` of parameters."""

from __future__ import annotations

import loop_losses_written  # noqa: F401 - registers its cases
import numpy as np
import paddle
import pytest
from loop_losses import CASES


def values(f, shapes, parameters):
    """The loss's gradients, and the loss as a function of the inputs."""
    main, start = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, start):
        inputs = [paddle.static.data(f"x{k}", s, "float64") for k, s in enumerate(shapes)]
        if parameters:
            zero = paddle.nn.initializer.Constant(0.0)
            made = [paddle.static.create_parameter(s, "float64", default_initializer=zero) for s in shapes]
            loss = f(*[p + v for p, v in zip(made, inputs)])
            found = {p.name: g for p, g in paddle.static.append_backward(loss)}
            grads = [found[p.name] for p in made]
        else:
            for v in inputs:
                v.stop_gradient = False
            loss = f(*inputs)
            grads = paddle.static.gradients([loss], inputs)
    executor = paddle.static.Executor()
    executor.run(start)

    def run(arrays, fetch):
        return executor.run(main, feed={f"x{k}": v for k, v in enumerate(arrays)}, fetch_list=fetch)

    return lambda arrays: run(arrays, grads), lambda arrays: float(run(arrays, [loss])[0])


def finite_differences(loss, arrays, step=1e-5):
    out = []
    for k, x in enumerate(arrays):
        g = np.zeros_like(x)
        for i in np.ndindex(*x.shape):
            ends = []
            for sign in (1, -1):
                moved = [a.copy() for a in arrays]
                moved[k][i] += sign * step
                ends.append(loss(moved))
            g[i] = (ends[0] - ends[1]) / (2 * step)
        out.append(g)
    return out


@pytest.mark.parametrize("parameters", [False, True], ids=["gradients", "append_backward"])
@pytest.mark.parametrize("name", CASES)
def test_gradient(name, parameters):
    f, shapes = CASES[name]
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.3, 0.8, s) for s in shapes]
    paddle.enable_static()
    try:
        grads, loss = values(f, shapes, parameters)
        for got, want in zip(grads(arrays), finite_differences(loss, arrays)):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    finally:
        paddle.disable_static()
