"""Predictors on programs that official paddle saved, and on our own."""

import threading
from pathlib import Path

import numpy as np
import paddle
import pytest
from paddle import inference

FIXTURES = Path(__file__).parent.parent / "fixtures"


def config(name="program_conv"):
    return inference.Config(str(FIXTURES / f"{name}.json"), str(FIXTURES / f"{name}.pdiparams"))


def recorded(name):
    return np.load(FIXTURES / f"{name}_in.npy"), np.load(FIXTURES / f"{name}_out.npy")


@pytest.mark.parametrize("name", ["program_mlp", "program_conv"])
@pytest.mark.parametrize("fused", [True, False])
def test_official_programs(name, fused):
    made = config(name)
    made.switch_ir_optim(fused)
    predictor = inference.create_predictor(made)
    x, expected = recorded(name)
    (input_name,), (output_name,) = predictor.get_input_names(), predictor.get_output_names()
    handle = predictor.get_input_handle(input_name)
    handle.reshape(x.shape)
    handle.copy_from_cpu(x)
    predictor.run()
    out = predictor.get_output_handle(output_name)
    assert out.shape() == list(expected.shape) and out.type() == inference.DataType.FLOAT32
    np.testing.assert_allclose(out.copy_to_cpu(), expected, rtol=1e-5, atol=1e-6)
    (by_list,) = predictor.run([paddle.to_tensor(x[:1])])
    np.testing.assert_allclose(by_list.numpy(), expected[:1], rtol=1e-5, atol=1e-6)


def test_clones_run_in_threads():
    predictor = inference.create_predictor(config())
    x, expected = recorded("program_conv")
    found = {}

    def work(i, own):
        for _ in range(5):
            own.get_input_handle(own.get_input_names()[0]).share_external_data(np.ascontiguousarray(x + i))
            own.run()
        found[i] = own.get_output_handle(own.get_output_names()[0]).copy_to_cpu()

    threads = [threading.Thread(target=work, args=(i, predictor.clone())) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-6)
    for i in range(1, 4):
        (alone,) = predictor.run([paddle.to_tensor((x + i).astype("f4"))])
        np.testing.assert_array_equal(found[i], alone.numpy())
    pool = inference.PredictorPool(config(), 2)
    assert pool.retrive(1) is not pool.retrive(0)


def test_program_from_memory():
    program = (FIXTURES / "program_mlp.json").read_bytes()
    params = (FIXTURES / "program_mlp.pdiparams").read_bytes()
    made = inference.Config()
    made.set_model_buffer(program, len(program), params, len(params))
    assert made.model_from_memory()
    x, expected = recorded("program_mlp")
    (out,) = inference.create_predictor(made).run([paddle.to_tensor(x)])
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_copies_and_bad_inputs(tmp_path):
    predictor = inference.create_predictor(config("program_mlp"))
    x, expected = recorded("program_mlp")
    handle = predictor.get_input_handle(predictor.get_input_names()[0])
    out = predictor.get_output_handle(predictor.get_output_names()[0])
    with pytest.raises(RuntimeError, match="no value"):
        predictor.run()
    with pytest.raises(RuntimeError, match="no value yet"):
        out.copy_to_cpu()
    mine = x.copy()
    handle.copy_from_cpu(mine)
    mine[:] = 0
    predictor.run()
    np.testing.assert_allclose(out.copy_to_cpu(), expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(TypeError, match="numpy ndarray"):
        handle.copy_from_cpu([1.0])
    handle.copy_from_cpu(x.astype("f8"))
    with pytest.raises(ValueError, match="float32"):
        predictor.run()
    handle.copy_from_cpu(x[:, :-1].copy())
    with pytest.raises(ValueError, match="expected shape"):
        predictor.run()
    handle.reshape([3, 3])
    with pytest.raises(ValueError, match="was reshaped to"):
        handle.copy_from_cpu(x)
    with pytest.raises(RuntimeError, match="no input is called 'nope'"):
        predictor.get_input_handle("nope")
    with pytest.raises(RuntimeError, match="no program at"):
        inference.create_predictor(inference.Config(str(tmp_path / "a.json"), str(tmp_path / "a.pdiparams")))
    (tmp_path / "old.pdmodel").write_bytes(b"x")
    with pytest.raises(ValueError, match="Paddle 2"):
        inference.create_predictor(inference.Config(str(tmp_path / "old.pdmodel"), str(tmp_path / "old.pdiparams")))
    with pytest.raises(TypeError, match="expected a Config"):
        inference.create_predictor("x")


def test_switches_answer_as_on_a_cpu(capfd, tmp_path):
    made = config()
    made.enable_use_gpu(100, 0)
    assert "no CUDA devices" in capfd.readouterr().err and not made.use_gpu()
    made.disable_gpu()
    made.enable_memory_optim()
    made.disable_glog_info()
    made.switch_use_feed_fetch_ops(False)
    made.switch_specify_input_names(True)
    made.enable_mkldnn()
    made.set_cpu_math_library_num_threads(2)
    assert made.mkldnn_enabled() and made.specify_input_name() and made.glog_info_disabled()
    assert made.cpu_math_library_num_threads() == 2
    made.collect_shape_range_info(str(tmp_path / "shapes"))
    assert made.shape_range_info_collected() and not made.tensorrt_engine_enabled()
    assert "program_conv.json" in made.summary() and "ir_optim" in made.summary()
    for call in (made.enable_tensorrt_engine, made.enable_xpu):
        with pytest.raises(RuntimeError, match="please compile with"):
            call()
    made.enable_custom_device("toaster")
    with pytest.raises(RuntimeError, match="no plugin brought a device 'toaster'"):
        inference.create_predictor(made)
    assert inference.get_version().startswith("version: ")
    assert inference.get_num_bytes_of_data_type(inference.DataType.FLOAT16) == 2
    assert {p.name: p.value for p in inference.PlaceType} == {"UNK": -1, "CPU": 0, "GPU": 1, "XPU": 2, "CUSTOM": 4}


def test_what_static_mode_saved(build, tmp_path):
    x = paddle.static.data("x", [None, 1, 6, 6], "float32")
    h = paddle.static.nn.batch_norm(paddle.static.nn.conv2d(x, 3, 3, act="relu"))
    label = paddle.static.data("label", [None, 1], "int64")
    y = paddle.static.nn.fc(h, 2, activation="softmax")
    paddle.optimizer.SGD(0.1).minimize(paddle.mean(paddle.nn.functional.cross_entropy(y, label)))
    build.start()
    rng = np.random.RandomState(0)
    value = rng.randn(4, 1, 6, 6).astype("f4")
    for _ in range(3):
        build.run({"x": value, "label": rng.randint(0, 2, (4, 1))})
    (expected,) = build.run({"x": value}, [y], program=build.main.clone(for_test=True))
    prefix = str(tmp_path / "model")
    paddle.static.save_inference_model(prefix, [x], [y], build.exe, program=build.main)
    with paddle.static.scope_guard(paddle.static.Scope()):
        program, feeds, fetches = paddle.static.load_inference_model(prefix, build.exe)
        assert feeds == ["x"]
        (again,) = build.run({"x": value}, fetches, program=program)
    np.testing.assert_allclose(again, expected, rtol=1e-5, atol=1e-6)
    paddle.disable_static()
    predictor = inference.create_predictor(inference.Config(prefix + ".json", prefix + ".pdiparams"))
    (out,) = predictor.run([paddle.to_tensor(value)])
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5, atol=1e-6)
    paddle.enable_static()


def test_save_and_load_for_training(build, tmp_path):
    x = paddle.static.data("x", [None, 3], "float32")
    loss = paddle.mean(paddle.static.nn.fc(x, 2) ** 2)
    paddle.optimizer.Adam(0.1).minimize(loss)
    build.start()
    value = {"x": np.arange(6, dtype="f4").reshape(2, 3)}
    build.run(value, [loss])
    prefix = str(tmp_path / "train")
    paddle.static.save(build.main, prefix)
    expected = [float(build.run(value, [loss])[0]) for _ in range(2)]
    state = paddle.static.load_program_state(prefix)
    assert set(state) == set(build.main._state_vars())
    build.start()
    paddle.static.load(build.main, prefix, build.exe)
    np.testing.assert_allclose([float(build.run(value, [loss])[0]) for _ in range(2)], expected, rtol=1e-6)
    with pytest.raises(ValueError, match="no parameters at"):
        paddle.static.load(build.main, str(tmp_path / "nothing"))
    state["fc_0.w_0"] = np.zeros((2, 2), "f4")
    with pytest.raises(ValueError, match="expected shape"):
        paddle.static.set_program_state(build.main, state)


def test_pruning_asks_for_all_inputs(build):
    x, y = (paddle.static.data(n, [2], "float32") for n in "xy")
    out = x * y
    with pytest.raises(ValueError, match=r"depend on \['y'\]"):
        paddle.static.normalize_program(build.main, [x], [out])
    with pytest.raises(TypeError, match="program type"):
        paddle.static.normalize_program(3, [x], [out])
    with pytest.raises(ValueError, match="fetch_vars"):
        paddle.static.normalize_program(build.main, [x], ["out"])
    pruned = paddle.static.normalize_program(build.main, [x, y], [x + 1.0])
    assert pruned._input_names == ["x"] and "multiply" not in str(pruned)
