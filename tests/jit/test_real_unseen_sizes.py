"""Sizes that nothing is known about when a program is made: slices, empty reductions and counts of elements, against eager."""

import numpy as np
import pytest
from real_core import paddle

from paddle.static import InputSpec


def _halves(x):
    half = x.shape[0] // 2
    return x[half : 2 * half] * 2.0


def _from_the_back(x):
    return x[x.shape[0] - 3 :] * 2.0


def _backwards(x):
    return x[x.shape[0] // 2 :: -1] * 2.0


def _nothing_or_more(x):
    return x[3 : x.shape[0] // 2] * 2.0


SLICES = [_halves, _from_the_back, _backwards, _nothing_or_more]


def _with_gradient(function, array):
    x = paddle.to_tensor(array, stop_gradient=False)
    y = function(x)
    (y**2).sum().backward()
    return y.numpy(), x.grad.numpy()


def _assert_same(got, want):
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("part", SLICES, ids=lambda f: f.__name__)
def test_slices_of_selected_elements_have_the_sizes_that_eager_has(part):
    def selected(x):
        return part(paddle.masked_select(x, x > 0))

    captured = paddle.jit.to_static(selected)
    for n in (4, 5, 7, 1, 2, 0, 9):
        array = np.concatenate([np.arange(1, n + 1), -np.ones(10 - n)]).astype("float32")
        _assert_same(_with_gradient(captured, array), _with_gradient(selected, array))


@pytest.mark.parametrize("part", SLICES, ids=lambda f: f.__name__)
def test_a_saved_program_slices_inputs_of_every_size(part, tmp_path):
    class Slicing(paddle.nn.Layer):
        def forward(self, x):
            return part(x)

    paddle.jit.save(Slicing(), str(tmp_path / "m"), input_spec=[InputSpec([None], "float32")])
    loaded = paddle.jit.load(str(tmp_path / "m"))
    for n in (4, 5, 1, 2, 0, 9):
        array = np.arange(n, dtype="float32")
        _assert_same(_with_gradient(loaded, array), _with_gradient(part, array))


def _is_positive(x):
    return (x * 2).sum() > 0


def _columns(x):
    return (x * 2).sum(0)


def _times_elements(x):
    return (x * 2).sum() * x.numel().astype("float32")


@pytest.mark.parametrize("reduction", [_is_positive, _columns, _times_elements], ids=lambda f: f.__name__)
def test_reductions_of_open_sizes_take_empty_tensors(reduction, tmp_path):
    class Reducing(paddle.nn.Layer):
        def forward(self, x):
            return reduction(x)

    paddle.jit.save(Reducing(), str(tmp_path / "m"), input_spec=[InputSpec([None, 2], "float32")])
    loaded = paddle.jit.load(str(tmp_path / "m"))
    for n in (3, 0, 1, 5000, 0):
        x = paddle.ones([n, 2])
        np.testing.assert_array_equal(loaded(x).numpy(), reduction(x).numpy())


def test_a_size_that_comes_to_be_0_is_no_copied_size(tmp_path):
    class Tiling(paddle.nn.Layer):
        def forward(self, x):
            tiled = paddle.tile(x, [(x > 0).astype("int64").sum(), 1])
            return tiled[: tiled.shape[0] // 2]

    assert paddle.zeros([0, 4]).reshape([1, 0, 4]).shape == [1, 0, 4]
    assert paddle.zeros([0, 4]).reshape([0, 2, 2]).shape == [0, 2, 2]
    with pytest.raises(ValueError, match="reshape"):
        paddle.zeros([0, 4]).reshape([1, 4])
    paddle.jit.save(Tiling(), str(tmp_path / "m"), input_spec=[InputSpec([None, 4], "float32")])
    loaded = paddle.jit.load(str(tmp_path / "m"))
    for n in (3, 0, 1):
        x = paddle.ones([n, 4])
        assert loaded(x).shape == Tiling()(x).shape


def right_or_refused(run, n, m):
    """Sizes of which one may come to be 1: NumPy's result, or an error."""
    try:
        want = np.tanh(np.full([n], 4.0) + np.ones([m])) * 2
    except ValueError:
        with pytest.raises(ValueError, match="add"):
            run(n, m)
        return
    try:
        got = run(n, m)
    except ValueError as error:
        assert 1 in (n, m) and n != m and "add" in str(error)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-6)


SIZES = ((3, 3), (3, 2), (1, 3), (3, 1), (2, 2), (2, 3))


def test_open_sizes_that_do_not_agree_in_static_mode():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x, y = paddle.static.data("x", [None, 4]), paddle.static.data("y", [None])
            out = paddle.tanh(x.sum(1) + y) * 2
        executor = paddle.static.Executor()
        for n, m in SIZES:
            feed = lambda n, m: {"x": np.ones([n, 4], "float32"), "y": np.ones([m], "float32")}  # noqa: E731
            right_or_refused(lambda n, m: executor.run(main, feed=feed(n, m), fetch_list=[out])[0], n, m)
    finally:
        paddle.disable_static()


@pytest.mark.parametrize("backend", ["CINN", None])
def test_open_sizes_that_do_not_agree_in_groups(backend):
    spec = [InputSpec([None, 4]), InputSpec([None])]
    f = lambda x, y: paddle.tanh(x.sum(1) + y) * 2  # noqa: E731
    compiled = paddle.jit.to_static(f, input_spec=spec, full_graph=True, backend=backend)
    for n, m in SIZES:
        right_or_refused(lambda n, m: compiled(paddle.ones([n, 4]), paddle.ones([m])).numpy(), n, m)
