"""paddle.onnx.export hands a saved program to paddle2onnx; a stand-in for it notes what it is given."""

import json
import os
import sys
import types

import paddle
import pytest


def test_the_converter_gets_the_saved_program(tmp_path, monkeypatch):
    seen = {}

    def convert(model, params, save_file, opset_version, **others):
        with open(model) as file:
            seen["program"] = json.load(file)
        seen.update(size=os.path.getsize(params), target=save_file, version=opset_version, others=others)

    monkeypatch.setitem(sys.modules, "paddle2onnx", types.SimpleNamespace(export=convert))
    spec = [paddle.static.InputSpec([None, 3], "float32")]
    paddle.onnx.export(paddle.nn.Linear(3, 2), str(tmp_path / "model"), spec, 11, verbose=False)
    assert seen["target"] == str(tmp_path / "model.onnx") and seen["version"] == 11 and seen["others"] == {"verbose": False}
    assert "program" in seen["program"] and seen["size"] > 8 * 4
    with pytest.raises(ValueError, match="file_prefix is empty"):
        paddle.onnx.export(paddle.nn.Linear(3, 2), str(tmp_path) + "/", spec)


def test_without_the_converter(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "paddle2onnx", None)
    with pytest.raises(ImportError, match="paddle2onnx"):
        paddle.onnx.export(paddle.nn.Linear(3, 2), str(tmp_path / "model"))
