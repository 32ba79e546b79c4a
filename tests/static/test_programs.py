"""Building, cloning, printing and running programs."""

import numpy as np
import paddle
import pytest
from paddle import static

F = paddle.nn.functional


def test_modes_and_default_programs():
    assert paddle.in_dynamic_mode()
    paddle.enable_static()
    try:
        assert not paddle.in_dynamic_mode()
        before = static.default_main_program()
        other = static.Program()
        with static.program_guard(other):
            assert static.default_main_program() is other
            x = static.data("x", [2], "float32")
            y = x + 1.0
        assert static.default_main_program() is before
        (value,) = static.Executor().run(other, feed={"x": np.ones(2, "f4")}, fetch_list=[y])
        np.testing.assert_array_equal(value, [2.0, 2.0])
    finally:
        paddle.disable_static()
    assert paddle.in_dynamic_mode()
    np.testing.assert_array_equal((paddle.ones([2]) + 1.0).numpy(), [2.0, 2.0])


def test_feed_by_name_fetch_by_variable_or_name(build):
    x = static.data("x", [None, 3], "float32")
    y = paddle.exp(x)
    value = np.arange(6, dtype="f4").reshape(2, 3)
    by_variable, by_name, itself = build.run({"x": value, "unused": 1}, [y, y.name, "x"])
    np.testing.assert_allclose(by_variable, np.exp(value), rtol=1e-6)
    np.testing.assert_array_equal(by_variable, by_name)
    np.testing.assert_array_equal(itself, value)
    (tensor,) = build.run({"x": paddle.to_tensor(value)}, [y], return_numpy=False)
    assert isinstance(tensor, paddle.Tensor)
    for rows in (1, 5, 0):
        assert build.run({"x": np.zeros((rows, 3), "f4")}, [y])[0].shape == (rows, 3)


@pytest.mark.parametrize(
    "feed, error, match",
    [
        ({}, KeyError, "'x' is not fed"),
        ({"x": np.zeros((2, 3), "f8")}, ValueError, "must be 'float32', but received 'float64'"),
        ({"x": np.zeros((2, 4), "f4")}, ValueError, r"shape = \(-1, 3\), but received fed shape \[2, 4\]"),
        ({"x": np.zeros(3, "f4")}, ValueError, "dimensions = 2"),
        ([{}, {}], TypeError, "here is one"),
    ],
)
def test_bad_feeds(build, feed, error, match):
    y = static.data("x", [None, 3], "float32") * 2.0
    with pytest.raises(error, match=match):
        build.run(feed, [y])


def test_bad_fetches(build):
    static.data("x", [1], "float32")
    with pytest.raises(ValueError, match="no variable named 'nope'"):
        build.run(fetch=["nope"])
    with pytest.raises(TypeError, match=r"fetch_list\[0\] 's type"):
        build.run(fetch=[3])
    other = static.Program()
    with static.program_guard(other):
        foreign = static.data("z", [1], "float32") + 1.0
    with pytest.raises(ValueError, match="not in this program"):
        build.run({"z": np.ones(1, "f4")}, [foreign])
    with pytest.raises(ValueError, match="belongs to another program"):
        foreign + 1.0


def test_parameters_need_the_startup_program(build):
    y = static.nn.fc(static.data("x", [None, 2], "float32"), 1)
    with pytest.raises(ValueError, match="run the start-up program first"):
        build.run({"x": np.ones((1, 2), "f4")}, [y])
    build.start()
    assert build.run({"x": np.ones((1, 2), "f4")}, [y])[0].shape == (1, 1)


def test_names_and_shapes_of_parameters(build):
    x = static.data("x", [None, 1, 8, 8], "float32")
    h = static.nn.conv2d(x, 4, 3, act="relu")
    h = static.nn.batch_norm(h)
    static.nn.fc(h, 10, bias_attr=False)
    static.nn.fc([h, h], 2)
    static.nn.embedding(static.data("i", [None], "int64"), [7, 3])
    shapes = {p.name: list(p.shape) for p in build.main.all_parameters()}
    assert shapes == {
        "conv2d_0.w_0": [4, 1, 3, 3],
        "conv2d_0.b_0": [4],
        "batch_norm_0.w_0": [4],
        "batch_norm_0.b_0": [4],
        "batch_norm_0.w_1": [4],
        "batch_norm_0.w_2": [4],
        "fc_0.w_0": [144, 10],
        "fc_1.w_0": [144, 2],
        "fc_1.w_1": [144, 2],
        "fc_1.b_0": [2],
        "embedding_0.w_0": [7, 3],
    }
    assert build.main.global_block().var("fc_0.w_0").shape == [144, 10]
    with pytest.raises(ValueError, match="var nope not in this block"):
        build.main.global_block().var("nope")


def test_a_parameter_of_a_known_name_is_shared(build):
    x = static.data("x", [2, 3], "float32")
    attr = paddle.ParamAttr(name="shared")
    a = static.nn.fc(x, 4, weight_attr=attr, bias_attr=False)
    b = static.nn.fc(x, 4, weight_attr=attr, bias_attr=False)
    build.start()
    first, second = build.run({"x": np.ones((2, 3), "f4")}, [a, b])
    np.testing.assert_array_equal(first, second)
    assert len(build.main.all_parameters()) == 1
    with pytest.raises(ValueError, match="exists with shape"):
        static.nn.fc(x, 5, weight_attr=attr)


def test_scopes_hold_separate_values(build):
    w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    paddle.assign(w + 1.0, w)
    first, second = static.Scope(), static.Scope()
    for scope in (first, second):
        build.exe.run(build.startup, scope=scope)
    for _ in range(3):
        build.run(scope=first)
    build.run(scope=second)
    assert np.array(first.find_var(w.name).get_tensor())[0] == 4.0
    assert np.array(second.find_var(w.name).get_tensor())[0] == 2.0
    assert static.global_scope().find_var(w.name) is None
    kid = first.new_scope()
    assert kid.find_var(w.name) is first.find_var(w.name) and kid.local_var_names() == []


def test_fetched_parameters_are_copies(build):
    w = paddle.create_parameter([4], "float32", default_initializer=paddle.nn.initializer.Constant(0.0))
    paddle.assign(w + 1.0, w)
    build.start()
    kept = [build.run(fetch=[w])[0] for _ in range(3)]
    assert [k[0] for k in kept] == [1.0, 2.0, 3.0]
    tensors = [build.run(fetch=[w], return_numpy=False)[0] for _ in range(3)]
    with paddle._core.trace.outside():
        assert [float(t.numpy()[0]) for t in tensors] == [4.0, 5.0, 6.0]


def test_clone_for_test_takes_the_form_for_inference(build):
    x = static.data("x", [None, 4], "float32")
    h = static.nn.batch_norm(static.nn.fc(x, 6, activation="relu"))
    y = F.dropout(static.nn.fc(h, 3), 0.5)
    loss = paddle.mean(y * y)
    early = build.main.clone(for_test=True)
    paddle.optimizer.Adam(0.1).minimize(loss)
    late = build.main.clone(for_test=True)
    build.start()
    value = {"x": np.random.RandomState(0).randn(8, 4).astype("f4")}
    for _ in range(3):
        build.run(value, [loss])
    scope = static.global_scope()
    state = {n: np.array(scope.find_var(n).get_tensor()) for n in scope.local_var_names()}
    results = [build.run(value, [y], program=p)[0] for p in (early, early, late)]
    for n, before in state.items():
        np.testing.assert_array_equal(before, np.array(scope.find_var(n).get_tensor()), err_msg=n)
    # By hand: affine, relu, running statistics, affine.
    h = np.maximum(value["x"] @ state["fc_0.w_0"] + state["fc_0.b_0"], 0)
    h = (h - state["batch_norm_0.w_1"]) / np.sqrt(state["batch_norm_0.w_2"] + 1e-5)
    h = h * state["batch_norm_0.w_0"] + state["batch_norm_0.b_0"]
    expected = h @ state["fc_1.w_0"] + state["fc_1.b_0"]
    for got in results:
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    assert not np.allclose(build.run(value, [y])[0], expected)  # the program itself still drops


def test_global_variables_count_runs(build):
    counter = static.create_global_var([1], 5, "int64", persistable=True, name="counter")
    paddle.increment(counter)
    build.start()
    assert [int(build.run(fetch=[counter])[0][0]) for _ in range(3)] == [6, 7, 8]
    build.start()
    assert int(build.run(fetch=["counter"])[0][0]) == 6


def test_gradients_of_inputs_of_every_order(build):
    x = static.data("x", [3], "float64")
    x.stop_gradient = False
    y = paddle.sum(x**3)
    (first,) = static.gradients(y, x)
    (second,) = static.gradients([paddle.sum(first)], [x])
    value = np.array([1.0, 2.0, -3.0])
    a, b = build.run({"x": value}, [first, second])
    np.testing.assert_allclose(a, 3 * value**2)
    np.testing.assert_allclose(b, 6 * value)


def test_append_backward(build):
    x = static.data("x", [2, 3], "float32")
    y = static.nn.fc(x, 1, name="one")
    other = static.nn.fc(x, 1, name="two")
    pairs = static.append_backward(paddle.mean(y))
    # The newest parameter first; none is left out.
    assert [(p.name, g is None) for p, g in pairs] == [
        ("two.b_0", True),
        ("two.w_0", True),
        ("one.b_0", False),
        ("one.w_0", False),
    ]
    build.start()
    value = np.arange(6, dtype="f4").reshape(2, 3)
    grads = build.run({"x": value}, [g for _, g in pairs if g is not None])
    np.testing.assert_allclose(grads[0], [1.0], rtol=1e-6)
    np.testing.assert_allclose(grads[1], value.mean(0)[:, None], rtol=1e-6)
    with pytest.raises(ValueError, match="one element"):
        static.append_backward(other)
    with pytest.raises(TypeError, match="must be a Variable"):
        static.append_backward(3)
    only = static.append_backward(paddle.mean(other), parameter_list=["two.b_0"])
    assert [p.name for p, _ in only] == ["two.b_0"]


def test_an_unknown_size_is_minus_one(build):
    x = static.data("x", [None, 4], "float32")
    assert x.shape == [-1, 4] and x.shape[0] == -1 and x.shape[0] < 0 and not x.shape[0] > 0
    assert -1 in x.shape and str(x.shape[0]) == "-1" and repr(list(x.shape)) == "[-1, 4]"
    assert "-1, 4" in str(x)
    y = paddle.reshape(x, [x.shape[0] * 2, -1])  # still a size to compute with
    build.start()
    (got,) = build.run({"x": np.ones([3, 4], "f4")}, [y])
    assert got.shape == (6, 2)


def test_control_flow(build):
    x = static.data("x", [1], "float32")
    chosen = static.nn.cond(paddle.sum(x) > 0, lambda: x * 2.0, lambda: x - 1.0)
    i = paddle.full([1], 0, "int64")
    _, total = static.nn.while_loop(lambda i, t: i < 5, lambda i, t: [i + 1, t + x], [i, paddle.zeros([1])])
    index = static.data("index", [1], "int32")
    switched = static.nn.switch_case(index, {1: lambda: x + 10.0, 3: lambda: x + 30.0}, default=lambda: x)
    cases = static.nn.case(
        [(paddle.sum(x) < 0, lambda: x * 0.0), (paddle.sum(x) < 2, lambda: x * 0.0 + 1.0)], lambda: x
    )
    for value, at, want in (
        (1.5, 1, [3.0, 7.5, 11.5, 1.0]),
        (-2.0, 3, [-3.0, -10.0, 28.0, 0.0]),
        (4.0, 7, [8.0, 20.0, 4.0, 4.0]),
    ):
        got = build.run({"x": np.array([value], "f4"), "index": np.array([at], "i4")}, [chosen, total, switched, cases])
        np.testing.assert_allclose([float(g[0]) for g in got], want)


def test_text_is_read_back(build):
    x = static.data("x", [None, 4], "float32")
    y = F.softmax(static.nn.fc(x, 3))
    loss = paddle.mean(y)
    paddle.optimizer.SGD(0.1).minimize(loss)
    text = build.main.to_string(True)
    again = static.Program.parse(text)
    assert str(again) == text
    assert '"pd_op.softmax"' in text and "builtin.set_parameter" in text
    assert "test_programs.py" in build.main.to_string(True, with_details=True)
    build.start()
    value = np.random.RandomState(0).rand(2, 4).astype("f4")
    (expected,) = build.run({"x": value}, [y], use_prune=True)
    copy_of_y = again.global_block().ops
    op = next(o for o in copy_of_y if o.name() == "pd_op.softmax")
    (got,) = build.exe.run(again, feed={"x": value}, fetch_list=[again._tensor(op.result(0))], use_prune=True)
    np.testing.assert_array_equal(got, expected)


def test_random_operators(build):
    u = paddle.rand([1000])
    static.nn.fc(static.data("x", [1, 2], "float32"), 3)
    a, b = (build.run(fetch=[u])[0] for _ in range(2))
    assert not np.array_equal(a, b) and 0.4 < a.mean() < 0.6
    build.startup.random_seed = 7
    weights = []
    for _ in range(2):
        scope = static.Scope()
        program = build.startup.clone()
        build.exe.run(program, scope=scope)
        weights.append(np.array(scope.find_var("fc_0.w_0").get_tensor()))
    np.testing.assert_array_equal(*weights)


def test_layers_made_in_dynamic_mode_keep_their_memory():
    layer = paddle.nn.Linear(2, 2)
    weight = layer.weight.numpy().copy()
    paddle.enable_static()
    try:
        main = static.Program()
        with static.program_guard(main), static.scope_guard(static.Scope()):
            y = layer(static.data("x", [None, 2], "float32"))
            paddle.optimizer.SGD(1.0).minimize(paddle.sum(y))
            exe = static.Executor()
            exe.run(static.default_startup_program())
            (value,) = exe.run(main, feed={"x": np.ones((1, 2), "f4")}, fetch_list=[y])
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(value[0], weight.sum(0), rtol=1e-6)
    np.testing.assert_allclose(layer.weight.numpy(), weight - 1.0, rtol=1e-6)


def test_metrics(build):
    scores = static.data("scores", [None, 2], "float32")
    label = static.data("label", [None, 1], "int64")
    accuracy = static.accuracy(scores, label)
    area, last, _ = static.auc(scores, label)
    build.start()
    rng = np.random.RandomState(0)
    everything = []
    for _ in range(3):
        p = rng.rand(50).astype("f4")
        truth = (rng.rand(50) < p).astype("int64")
        feed = {"scores": np.stack([1 - p, p], 1), "label": truth[:, None]}
        a, whole, batch = build.run(feed, [accuracy, area, last])
        everything.append((p, truth))
        assert a == pytest.approx(((p > 0.5) == truth).mean(), abs=1e-6)
        assert batch == pytest.approx(rank_auc(p, truth), abs=2e-3)
        assert whole == pytest.approx(rank_auc(*map(np.concatenate, zip(*everything))), abs=2e-3)


def rank_auc(scores, truth):
    """The share of pairs (positive, negative) that are in order."""
    order = scores[truth == 1][:, None] - scores[truth == 0][None, :]
    return (order > 0).mean() + 0.5 * (order == 0).mean()


def test_what_is_not_there_says_so(build):
    x = static.data("x", [2], "float32")
    with pytest.raises(TypeError, match="program_to_graph"):
        static.CompiledProgram(3)
    compiled = static.CompiledProgram(build.main, build_strategy=static.BuildStrategy())
    assert build.exe.run(compiled, feed={"x": np.ones(2, "f4")}, fetch_list=[x])[0].tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="name_scope"):
        with static.name_scope(""):
            pass
    build.exe.close()
    with pytest.raises(RuntimeError, match="closed"):
        build.run()


def test_variables_never_share_memory(build):
    x = static.data("x", [3], "float32")
    a = static.create_global_var([3], 0.0, "float32", persistable=True, name="a")
    b = static.create_global_var([3], 0.0, "float32", persistable=True, name="b")
    c = static.create_global_var([3], 1.0, "float32", persistable=True, name="c")
    out = paddle.exp(x)
    paddle.assign(out, a)
    paddle.assign(c, b)
    paddle.assign(c + 1.0, c)
    build.start()
    value = np.zeros(3, "f4")
    (kept,) = build.run({"x": value}, [out], return_numpy=False)
    scope = static.global_scope()
    build.run({"x": value + 1})
    np.testing.assert_array_equal(kept.numpy(), [1.0, 1.0, 1.0])
    found = {n: np.array(scope.find_var(n).get_tensor())[0] for n in "abc"}
    assert found == {"a": pytest.approx(np.e), "b": 2.0, "c": 3.0}
    pointers = {scope.find_var(n).value.data_ptr() for n in "abc"}
    assert len(pointers) == 3


def test_startup_gives_each_variable_its_own_memory(build):
    w = paddle.create_parameter([8], "float32", default_initializer=paddle.nn.initializer.Constant(0.0))
    paddle.optimizer.Adam(0.1).minimize(paddle.sum(w))
    build.start()
    scope = static.global_scope()
    names = [n for n in scope.local_var_names() if scope.find_var(n).value.shape == [8]]
    assert len(names) == 3 and len({scope.find_var(n).value.data_ptr() for n in names}) == 3


def test_while_as_a_block(build):
    n = static.data("n", [1], "int64")
    i = paddle.full([1], 0, "int64")
    total, twice = paddle.zeros([1], "int64"), paddle.zeros([1], "int64")
    cond = paddle.less_than(i, n)
    loop = static.nn.control_flow.While(cond=cond)
    with loop.block():
        paddle.assign(total + i, total)
        paddle.assign(total * 2, twice)
        paddle.increment(i)
        paddle.assign(paddle.less_than(i, n), cond)
    for count in (0, 1, 5):
        got = build.run({"n": np.array([count])}, [i, total, twice])
        expected = sum(range(count))
        assert [int(g[0]) for g in got] == [count, expected, 2 * expected]
    with pytest.raises(ValueError, match="doesn't change the condition"):
        with static.nn.control_flow.While(cond=cond).block():
            paddle.increment(i)
    with pytest.raises(TypeError, match="must be a bool"):
        static.nn.control_flow.While(cond=i)


def test_assert(build):
    x = static.data("x", [1], "float32")
    static.nn.control_flow.Assert(paddle.sum(x) > 0, [x])
    assert build.run({"x": np.ones(1, "f4")}, [x])[0][0] == 1.0
    with pytest.raises(AssertionError):
        build.run({"x": -np.ones(1, "f4")}, [x])
