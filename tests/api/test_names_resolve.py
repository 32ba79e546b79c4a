"""Names that packages offer lazily exist, and those that they don't have are AttributeErrors."""

import importlib
import pkgutil

import pytest

paddle = pytest.importorskip("paddle")

LAZY = [
    "paddle", "paddle.amp", "paddle.audio", "paddle.autograd", "paddle.base", "paddle.device", "paddle.distributed",
    "paddle.distributed.fleet", "paddle.distribution", "paddle.framework", "paddle.incubate", "paddle.io", "paddle.jit",
    "paddle.jit.dy2static", "paddle.nn", "paddle.nn.functional", "paddle.optimizer", "paddle.quantization", "paddle.sparse",
    "paddle.static", "paddle.text", "paddle.utils", "paddle.vision",
]  # fmt: skip


@pytest.mark.parametrize("name", LAZY)
def test_names(name):
    module = importlib.import_module(name)
    assert not hasattr(module, "no_such_name")
    for declared in ("_SUBMODULES", "_MODULES", "_LAZY", "_NAMES", "__all__"):
        offered = set(getattr(module, declared, ())) - {"fluid"}  # whose error says where its parts are now
        lacking = [n for n in sorted(offered) if not hasattr(module, n)]
        assert not lacking, f"{name}.{declared}"
    for found in pkgutil.iter_modules(module.__path__):
        if not found.name.startswith("_"):
            assert not hasattr(module, found.name + "_but_not_there")


def test_numbers_in_files(tmp_path):
    import numpy as np

    path = tmp_path / "numbers"
    np.arange(20, dtype="float32").tofile(path)
    stored = paddle.MmapStorage(str(path), 80)
    np.testing.assert_array_equal(stored.get_slice(paddle.float32, 3, 7).numpy(), np.arange(3, 7, dtype="float32"))
    assert stored.get_slice("bfloat16").shape == [40] and stored.get_slice("float32", 20, 20).shape == [0]
    with pytest.raises(IndexError):
        stored.get_slice("float32", 0, 21)
    with pytest.raises(ValueError):
        paddle.MmapStorage(str(path), 81)


def test_samples_as_text(capsys):
    class Words(paddle.distributed.fleet.MultiSlotDataGenerator):
        def generate_sample(self, line):
            return lambda: iter([[("words", [1, 2, 3]), ("label", [0.5])], [("words", [4]), ("label", [1.0])]])

    words = Words()
    words.set_batch(1)
    words.run_from_memory()
    assert capsys.readouterr().out == "3 1 2 3 1 0.5\n1 4 1 1.0\n"
    with pytest.raises(ValueError):
        words._gen_str([("words", []), ("label", [1.0])])
    with pytest.raises(ValueError):
        words._gen_str([("others", [1]), ("label", [1.0])])
