"""Captures that are interrupted: what runs in segments equals eager, Python between them runs once a call, nothing is
compiled twice."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

from paddle import nn


RANDOM = np.random.RandomState(1)


def tensor(values, grad=False):
    t = paddle.to_tensor(np.asarray(values, dtype="float32"))
    t.stop_gradient = not grad
    return t


def last(f):
    return f.report().events[-1]


def check(f, *calls, grad=True, programs=None):
    """Each call as eager, gradients of the first argument too; a repeated call compiles nothing."""
    compiled = paddle.jit.to_static(f)
    for values in calls:
        results = []
        for run in (compiled, f, compiled):
            args = [tensor(v, grad) for v in values]
            y = run(*args)
            flat = y if isinstance(y, (list, tuple)) else [y]
            numbers = [v.numpy() if isinstance(v, paddle.Tensor) else v for v in flat]
            roots = [v for v in flat if isinstance(v, paddle.Tensor) and not v.stop_gradient]
            if grad and roots:
                sum((v * v).sum() for v in roots).backward()
            results.append((numbers, [a.grad.numpy() if a.grad is not None else None for a in args]))
        for got in (results[0], results[2]):
            for a, b in zip([*got[0], *got[1]], [*results[1][0], *results[1][1]]):
                if b is None:
                    assert a is None
                else:
                    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    if programs is not None:
        assert compiled._segments.size == programs
    return compiled


X = RANDOM.randn(3, 2)


def test_number_needed_in_python():
    def f(x):
        y = paddle.tanh(x) * 2
        k = y.sum().item()
        return y * k + x

    compiled = check(f, [X], [2 * X], [3 * X], programs=3)  # the second anew, with the number as an input
    event = compiled.report().events[0]
    assert event.kind == "segmented"
    assert "item" in event.breaks[0].why and "test_real_segments.py" in event.breaks[0].where


@pytest.mark.parametrize("what", ["numpy", "float", "int", "str", "format", "list"])
def test_ways_to_ask_for_a_value(what):
    ask = {
        "numpy": lambda t: t.numpy(),
        "float": float,
        "int": int,
        "str": str,
        "format": lambda t: f"{float(t):.3f}",
        "list": lambda t: t.tolist(),
    }[what]
    seen = []

    def f(x):
        y = x * x
        s = y.sum()
        seen.append(ask(s))
        return y + s

    compiled = paddle.jit.to_static(f)
    for k in (1, 2, 3):
        np.testing.assert_allclose(compiled(tensor(k * X)).numpy(), (k * X) ** 2 + ((k * X) ** 2).sum(), rtol=1e-5)
    assert len(seen) == 3
    assert str(seen[0]) == str(ask(paddle.to_tensor(np.float32((X.astype("float32") ** 2).sum()))))


def test_python_between_segments_runs_once_a_call():
    calls = []

    def f(x):
        calls.append("start")
        y = x + 1
        calls.append(float(y.sum()))
        z = y * 2
        calls.append(float(z.sum()))
        return z - 1

    compiled = paddle.jit.to_static(f)
    for k in range(3):
        calls.clear()
        x = (X + k).astype("float32")
        np.testing.assert_allclose(compiled(tensor(x)).numpy(), (x + 1) * 2 - 1, rtol=1e-6)
        assert calls[0] == "start" and len(calls) == 3
        np.testing.assert_allclose(calls[1:], [(x + 1).sum(), 2 * (x + 1).sum()], rtol=1e-5)
    assert compiled._segments.size == 3


def test_branch_on_a_value_in_python():
    def helper(t):
        return bool(t)  # not transformed below

    paddle.jit.not_to_static(helper)

    def f(x):
        y = x * 3
        if helper(y.sum() > 0):
            return y + 1
        return paddle.exp(y)

    check(f, [np.abs(X)], [-np.abs(X)], programs=3)


def test_branches_that_no_operator_can_hold():
    def f(x):
        y = x * 2
        if y.sum() > 0:
            out = {"kind": "plus", "value": y + 1}
        else:
            out = [y - 1]
        return out["value"] if isinstance(out, dict) else out[0]

    check(f, [np.abs(X)], [-np.abs(X)])


def test_loop_that_asks_for_a_value_inside():
    def f(x):
        rounds = []
        while x.sum() < 20:
            x = x * 1.5
            rounds.append(float(x.sum()))
        return x, len(rounds)

    check(f, [np.abs(X) + 0.5], [np.abs(X) + 2])


def test_write_in_place_across_segments():
    def f(x):
        y = x * 1
        row = y[1]
        total = float(y.sum())
        row.add_(paddle.ones([2]))
        y[0] = total
        again = y.sum().item()
        y.multiply_(paddle.full([2], again))
        return y, row

    check(f, [X])


def test_argument_written_in_place():
    def f(x):
        x.scale_(2.0)
        k = float(x.sum())
        x.add_(paddle.full_like(x, k))
        return x * 1

    compiled = paddle.jit.to_static(f)
    for _ in range(2):
        x, y = tensor(X), tensor(X)
        a, b = compiled(x), f(y)
        np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-6)
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_layer_with_parameters_trains_through_segments():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 4)
            self.b = nn.Linear(4, 1)
            self.seen = []

        def forward(self, x):
            h = paddle.tanh(self.a(x))
            self.seen.append(h.mean().item())
            return self.b(h)

    net, twin = Net(), Net()
    twin.set_state_dict(net.state_dict())
    opts = [paddle.optimizer.Adam(0.01, parameters=n.parameters()) for n in (net, twin)]
    compiled = paddle.jit.to_static(net)
    for k in range(4):
        losses = []
        for run, opt in ((compiled, opts[0]), (twin, opts[1])):
            loss = (run(tensor(X + k)) ** 2).mean()
            loss.backward()
            opt.step()
            opt.clear_grad()
            losses.append(float(loss))
        assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert compiled.forward._segments.size == 2
    np.testing.assert_allclose(net.seen, twin.seen, rtol=1e-5)


@pytest.mark.parametrize("where", ["middle", "end"])
def test_training_step_with_a_value_asked_for(where):
    def make():
        net = nn.Linear(2, 3)
        net.weight.set_value(np.arange(6, dtype="float32").reshape(2, 3) / 6)
        net.bias.set_value(np.ones(3, "float32"))
        rate = paddle.optimizer.lr.StepDecay(0.1, step_size=2)
        return net, paddle.optimizer.Adam(rate, parameters=net.parameters()), rate

    def stepper(net, opt, rate):
        def step(x):
            y = net(x)
            scale = float(y.abs().max()) if where == "middle" else 2.0
            loss = ((y / scale) ** 2).mean()
            loss.backward()
            opt.step()
            opt.clear_grad()
            rate.step()
            return loss.item()

        return step

    a, b = make(), make()
    compiled, eager = paddle.jit.to_static(stepper(*a)), stepper(*b)
    for k in range(5):
        x = X + k
        assert compiled(tensor(x)) == pytest.approx(eager(tensor(x)), rel=1e-5)
    for p, q in zip(a[0].parameters(), b[0].parameters()):
        np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-5, atol=1e-6)
    assert a[2].last_epoch == b[2].last_epoch
    size = compiled._segments.size
    compiled(tensor(X))
    assert compiled._segments.size == size


def test_gradient_of_an_argument_inside():
    def f(x):
        y = (x * x).sum()
        n = y.item()
        (y * 2).backward()
        return x.grad * 1, n

    check(f, [X], grad=True)


def test_dropout_draws_as_eager():
    def f(x):
        a = nn.functional.dropout(x, 0.5)
        k = float(a.sum())
        return nn.functional.dropout(a * k, 0.5)

    compiled = paddle.jit.to_static(f)
    for _ in range(2):
        paddle.seed(3)
        expected = f(tensor(np.ones(50))).numpy(), f(tensor(np.ones(50))).numpy()
        paddle.seed(3)
        for e in expected:
            np.testing.assert_array_equal(compiled(tensor(np.ones(50))).numpy(), e)


def test_exception_after_a_segment_leaves_what_happened():
    total = paddle.zeros([2])

    def f(x):
        total.add_(x)
        if float(total.sum()) > 3:
            total.add_(x)
            raise ValueError("too much")
        return total * 1

    compiled = paddle.jit.to_static(f)
    compiled(tensor([1.0, 1.0]))
    with pytest.raises(ValueError, match="too much"):
        compiled(tensor([1.0, 1.0]))
    np.testing.assert_allclose(total.numpy(), [3.0, 3.0])


def test_sizes_that_change():
    def f(x):
        y = paddle.tanh(x).reshape([x.shape[0], -1])
        k = float(y.sum())
        return (y * k).sum(axis=0)

    compiled = check(f, *[[RANDOM.randn(n, 2)] for n in (3, 4, 5, 6, 7, 8)])
    sizes = []
    for _ in range(3):  # in the first round the number becomes an input
        for n in (4, 6, 8):
            compiled(tensor(RANDOM.randn(n, 2)))
        sizes.append(compiled._segments.size)
    assert sizes[1] == sizes[2]


def test_whole_capture_names_the_line():
    def f(x):
        return x * float(x.sum().numpy())

    with pytest.raises(paddle._core.trace.GraphBreak, match="test_real_segments.py"):
        paddle.jit.to_static(f, full_graph=True)(tensor(X))


def test_hooks_and_custom_gradients_break():
    class Double(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor()
            return g * 2 + x * 0

    def f(x):
        y = Double.apply(x * 3)
        z = y * y
        z.register_hook(lambda g: g * 10)
        return z

    check(f, [X])


def test_lines_are_printed_in_order(capsys):
    @paddle.jit.to_static
    def f(x):
        y = x * 2
        k = int(y.sum())
        print("first", k)
        print("second", y)
        print("third")
        return y

    for _ in range(2):
        f(tensor([1.0, 2.0]))
        out = capsys.readouterr().out
        assert out.index("first 6") < out.index("second") < out.index("third") and "4." in out
