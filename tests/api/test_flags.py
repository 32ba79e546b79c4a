"""Flags that change what happens."""

import subprocess
import sys

import numpy as np
import paddle
import pytest


def line_of(marker):
    with open(__file__) as file:
        return next(n for n, text in enumerate(file, 1) if text.endswith(f"# {marker}\n"))


@pytest.fixture
def flag():
    before = {}

    def put(name, value):
        before.setdefault(name, paddle.get_flags(name)[name])
        paddle.set_flags({name: value})

    yield put
    paddle.set_flags(before)


def test_check_nan_inf_names_operator_output_counts_and_line(flag):
    flag("FLAGS_check_nan_inf", True)
    x = paddle.to_tensor([[1.0, 0.0, -1.0], [0.0, 2.0, 3.0]])
    with pytest.raises(RuntimeError, match=r"\[divide\] output out of shape \[2, 3\] and dtype float32 holds 1 NaN and "
                       r"1 infinite values among 6.*test_flags.py"):  # fmt: skip
        paddle.to_tensor([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]) / x
    assert (x * 2).sum().item() == 10
    paddle.empty([64])  # whatever the memory holds


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64"])
def test_check_nan_inf_of_every_kind(flag, dtype):
    x = paddle.to_tensor([1.0, 2.0]).astype(dtype)
    zero = paddle.to_tensor([1.0, 0.0]).astype(dtype)
    (x / zero).numpy()
    flag("FLAGS_check_nan_inf", True)
    with pytest.raises(RuntimeError, match=r"\[divide\].*FLAGS_check_nan_inf"):
        x / zero


def test_check_nan_inf_in_the_backward_pass(flag):
    flag("FLAGS_check_nan_inf", True)
    x = paddle.to_tensor([0.0, 4.0], stop_gradient=False)
    y = paddle.sqrt(x).sum()
    with pytest.raises(RuntimeError, match="FLAGS_check_nan_inf"):
        y.backward()


def test_check_nan_inf_in_programs(flag):
    @paddle.jit.to_static(full_graph=True)
    def f(x):
        y = x * 2
        z = paddle.log(y)  # line of log
        return z + 1

    x = paddle.to_tensor([-1.0, 1.0])
    f(x)
    flag("FLAGS_check_nan_inf", True)
    with pytest.raises(RuntimeError, match=rf"\[log\] output out.*1 NaN.*test_flags.py:{line_of('line of log')}"):
        f(x)
    np.testing.assert_allclose(f(paddle.to_tensor([1.0, 2.0])).numpy(), np.log([2.0, 4.0]) + 1, rtol=1e-6)


def test_check_nan_inf_level_prints(flag, capfd):
    flag("FLAGS_check_nan_inf", True)
    flag("FLAGS_check_nan_inf_level", 1)
    y = paddle.to_tensor([1.0]) / paddle.to_tensor([0.0])
    assert np.isinf(y.numpy()).all()
    assert "[divide]" in capfd.readouterr().err


def test_errors_of_programs_name_the_line_that_was_captured():
    @paddle.jit.to_static(full_graph=True)
    def f(w, i):
        return paddle.nn.functional.embedding(i, w)  # line of embedding

    with pytest.raises(Exception, match=f"test_flags.py:{line_of('line of embedding')}"):
        f(paddle.ones([3, 2]), paddle.to_tensor([5]))


def test_fast_math_off_is_nearly_exact(flag):
    x = np.linspace(-6, 6, 20001).astype("float32")

    def ulps(fn, exact):
        f = paddle.jit.to_static(lambda t: fn(t * 1.0) + 0.0, full_graph=True)
        expected = exact(x.astype("float64"))
        spacing = np.spacing(np.abs(expected).astype("float32")).astype("float64")
        return (np.abs(f(paddle.to_tensor(x)).numpy().astype("float64") - expected) / spacing).max()

    functions = [(paddle.exp, np.exp), (paddle.tanh, np.tanh), (paddle.sin, np.sin), (paddle.expm1, np.expm1)]
    fast = [ulps(*f) for f in functions]
    assert max(fast) < 4
    flag("FLAGS_fast_math", False)
    precise = [ulps(*f) for f in functions]
    assert max(precise) < 0.51, precise  # rounded once, from f64
    assert max(fast) > 0.51, fast  # the flag did something


def test_cpu_isa(flag):
    x = paddle.linspace(-4, 4, 1001)
    best = paddle.tanh(x).numpy()
    flag("FLAGS_cpu_isa", "base")
    base = paddle.tanh(x).numpy()
    np.testing.assert_allclose(base, best, rtol=1e-6, atol=1e-7)
    assert not np.array_equal(base, best)  # other code ran: it rounds differently somewhere
    with pytest.raises(ValueError, match="expected base, avx2, avx512"):
        paddle.set_flags({"FLAGS_cpu_isa": "mmx"})
    assert paddle.get_flags("FLAGS_cpu_isa")["FLAGS_cpu_isa"] == "base"
    paddle.set_flags({"FLAGS_cpu_isa": ""})
    np.testing.assert_array_equal(paddle.tanh(x).numpy(), best)


@pytest.mark.parametrize("value", ["base", "mmx", "avx512"])
def test_cpu_isa_from_the_environment_never_stops_the_start(value):
    code = "import paddle; print(float(paddle.tanh(paddle.ones([3])).sum()))"
    out = subprocess.run(
        [sys.executable, "-c", code], env={"FLAGS_cpu_isa": value, "PATH": "/usr/bin"}, capture_output=True, text=True
    )
    assert out.returncode == 0 and out.stdout.startswith("2.28"), out.stderr


def test_training_repeats_bit_by_bit():
    def train():
        paddle.seed(1)
        net = paddle.nn.Sequential(
            paddle.nn.Embedding(50, 16), paddle.nn.Flatten(), paddle.nn.Linear(64, 64), paddle.nn.GELU(),
            paddle.nn.Dropout(0.2), paddle.nn.Linear(64, 10),
        )  # fmt: skip
        adam = paddle.optimizer.Adam(parameters=net.parameters())
        for step in range(20):
            ids = paddle.randint(0, 50, [32, 4])
            loss = paddle.nn.functional.cross_entropy(net(ids), ids[:, 0] % 10)
            loss.backward()
            adam.step()
            adam.clear_grad()
        return [p.numpy() for p in net.parameters()]

    for a, b in zip(train(), train()):
        np.testing.assert_array_equal(a, b)
