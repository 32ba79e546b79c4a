"""Saved models with flipped, cut and padded bytes, through every function that reads them: a typed error that names the file, or
the same result. Never another one: files that we write say what their bytes were."""

import random
from pathlib import Path

import numpy as np
import pytest

paddle = pytest.importorskip("paddle")
from paddle import inference, nn  # noqa: E402

REFUSALS = (ValueError, TypeError, IndexError, NotImplementedError, MemoryError, OSError, RuntimeError)
X = np.linspace(-1, 1, 12).reshape(3, 4).astype("float32")


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.b = nn.Linear(4, 5), nn.LayerNorm(5, epsilon=1e-3), nn.Linear(5, 2)

    def forward(self, x):
        return self.b(nn.functional.relu(self.norm(self.a(x))))


def by_jit(prefix):
    return paddle.jit.load(prefix)(paddle.to_tensor(X)).numpy()


def by_static(prefix):
    paddle.enable_static()
    try:
        executor = paddle.static.Executor()
        with paddle.static.scope_guard(paddle.static.Scope()):
            program, feeds, fetches = paddle.static.load_inference_model(prefix, executor)
            return executor.run(program, feed={feeds[0]: X}, fetch_list=fetches)[0]
    finally:
        paddle.disable_static()


def by_predictor(prefix):
    predictor = inference.create_predictor(inference.Config(prefix + ".json", prefix + ".pdiparams"))
    predictor.get_input_handle(predictor.get_input_names()[0]).copy_from_cpu(X)
    predictor.run()
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


LOADERS = [by_jit, by_static, by_predictor]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    paddle.seed(3)
    net = Net()
    prefix = tmp_path_factory.mktemp("whole") / "net"
    paddle.jit.save(net, str(prefix), input_spec=[paddle.static.InputSpec([None, 4], "float32", "x")])
    expected = net(paddle.to_tensor(X)).numpy()
    return prefix.with_suffix(".json").read_bytes(), prefix.with_suffix(".pdiparams").read_bytes(), expected


def write(folder, program, parameters):
    (folder / "net.json").write_bytes(program)
    (folder / "net.pdiparams").write_bytes(parameters)
    return str(folder / "net")


def refused(load, prefix, expected):
    """True where it is refused; else the result must be the right one."""
    try:
        result = load(prefix)
    except REFUSALS as error:
        assert "net" in str(error), error  # the file
        return True
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    return False


@pytest.mark.parametrize("load", LOADERS)
def test_flipped_bytes_never_change_a_result(load, saved, tmp_path):
    program, parameters, expected = saved
    assert not refused(load, write(tmp_path, program, parameters), expected)
    rng = random.Random(load.__name__)
    found = 0
    for i in range(90):
        files = [bytearray(program), bytearray(parameters)]
        damaged = files[i % 2]
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        found += refused(load, write(tmp_path, *map(bytes, files)), expected)
    assert found > 75  # what stands before the digests, or nowhere, does no harm


@pytest.mark.parametrize("load", LOADERS)
def test_cut_and_padded_files_are_refused(load, saved, tmp_path):
    program, parameters, expected = saved
    rng = random.Random(load.__name__)
    for _ in range(12):
        assert refused(load, write(tmp_path, program[: rng.randrange(1, len(program))], parameters), expected)
        assert refused(load, write(tmp_path, program, parameters[: rng.randrange(1, len(parameters))]), expected)
    assert refused(load, write(tmp_path, program + b"]", parameters), expected)
    assert refused(load, write(tmp_path, program, parameters + bytes(rng.randrange(1, 50))), expected)


@pytest.mark.parametrize("load", LOADERS)
def test_files_of_official_paddle_are_believed_or_refused(load, tmp_path, monkeypatch):
    fixtures = Path(__file__).parents[1] / "fixtures"
    program, parameters = ((fixtures / f"program_mlp{end}").read_bytes() for end in (".json", ".pdiparams"))
    x = np.load(fixtures / "program_mlp_in.npy")
    monkeypatch.setitem(globals(), "X", x)
    expected = np.load(fixtures / "program_mlp_out.npy")
    np.testing.assert_allclose(load(write(tmp_path, program, parameters)), expected, rtol=1e-4, atol=1e-5)
    rng = random.Random(load.__name__)
    for _ in range(40):  # they hold no digest: only what can't be is found out
        damaged = bytearray(program)
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        try:
            load(write(tmp_path, bytes(damaged), parameters))
        except REFUSALS as error:
            assert str(error)


def test_other_parameters_on_purpose(saved, tmp_path):
    program, parameters, expected = saved
    others = bytearray(parameters)
    others[-1] ^= 1  # an element
    with pytest.raises(ValueError, match=r"net.pdiparams.*digest.*remove the key"):
        by_jit(write(tmp_path, program, bytes(others)))
    import json

    tree = json.loads(program)
    del tree["base_code"]["digest"]
    assert by_jit(write(tmp_path, json.dumps(tree).encode(), bytes(others))).shape == expected.shape


@pytest.mark.parametrize(
    "options",
    [
        {"separate_params": True},
        {"use_dist": True},
    ],
)
def test_options_that_ask_for_other_files(options, tmp_path):
    spec = [paddle.static.InputSpec([None, 4], "float32", "x")]
    with pytest.raises(NotImplementedError, match=f"jit.save.*{next(iter(options))}"):
        paddle.jit.save(Net(), str(tmp_path / "net"), input_spec=spec, **options)
    assert not list(tmp_path.iterdir())


def test_protobuf_programs_are_not_written(tmp_path):
    spec = [paddle.static.InputSpec([None, 4], "float32", "x")]
    paddle.set_flags({"FLAGS_json_format_model": False})
    try:
        with pytest.raises(NotImplementedError, match="pdmodel"):
            paddle.jit.save(Net(), str(tmp_path / "net"), input_spec=spec)
    finally:
        paddle.set_flags({"FLAGS_json_format_model": True})
    with pytest.raises(NotImplementedError, match="legacy_format"):
        paddle.static.save_inference_model(str(tmp_path / "net"), [], [], None, legacy_format=True)


def test_a_program_of_paddle_2_says_what_to_do(tmp_path):
    (tmp_path / "net.pdmodel").write_bytes(b"\x0a\x00")
    with pytest.raises(ValueError, match="net.pdmodel.*Paddle 2.*convert"):
        paddle.jit.load(str(tmp_path / "net"))
