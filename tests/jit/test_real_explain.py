"""paddle.jit.explain: the page holds the program at every stage, the groups and the times."""

import pytest

import paddle
from paddle import nn
from paddle.jit import _trace_api


@pytest.fixture(autouse=True)
def reference_core():
    previous = _trace_api.install(paddle._core.trace)
    yield
    _trace_api.install(previous)


def normalised(x, w):
    y = x * paddle.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    return paddle.matmul(y, w)


def test_explains_a_function(tmp_path):
    page = tmp_path / "page.html"
    result = paddle.jit.explain(normalised, paddle.ones([4, 8]), paddle.ones([8, 3]), path=str(page))
    assert [name for name, _ in result.stages] == ["captured", "decomposed", "fused"]
    assert "pd_op.matmul" in dict(result.stages)["captured"] and "cinn_op.group" in dict(result.stages)["fused"]
    (group,) = result.groups
    assert group["assembly"] and not group["why_kernels"]
    assert [s[0] for s in group["steps"]][-1] == "build loops"
    # reads x, writes y: 4 * 8 floats each
    assert group["bytes"] == 2 * 4 * 8 * 4
    assert {s.kind for s in result.steps} == {"Group", "Instruction"}
    assert any(s.name == "matmul" for s in result.steps)
    text = page.read_text()
    assert text.startswith("<!doctype html>") and text.count("<details") > 5
    assert "http" not in text  # nothing is loaded from elsewhere
    assert "test_real_explain.py" in text  # source lines
    assert "rsqrt, multiply" in str(result)
    assert "normalised" in str(result) and str(page) in str(result)


def test_explains_a_layer_with_dynamic_sizes():
    net = paddle.jit.to_static(
        nn.Sequential(nn.Linear(4, 8), nn.GELU()), input_spec=[paddle.static.InputSpec([None, 4], "float32")]
    )
    result = paddle.jit.explain(net, paddle.ones([3, 4]))
    assert result.groups and all(g["bytes"] == -1 for g in result.groups)
    assert "sizes known when it runs" in str(result)
