"""paddle.jit.explain: the page holds the program at every stage, the groups and the times."""

import paddle
from paddle import nn


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


def test_explains_why_operators_were_fused(tmp_path):
    result = paddle.jit.explain(normalised, paddle.ones([4, 8]), paddle.ones([8, 3]))
    (group,) = result.groups
    ((name, why, moved, flops),) = group["kernels"]
    assert (name, why, moved) == ("kernel0", "", 2 * 4 * 8 * 4)
    # x * x and the sum over it, x * r; per row a mean (a product and a bias), an addition, a root
    assert flops == 3 * 4 * 8 + 4 * 4
    joined = [d for d in group["decisions"] if d[0]]
    apart = [d for d in group["decisions"] if not d[0]]
    assert any("sum" in second and "reduction takes elements" in why for _, _, second, why in joined)
    assert any("matmul" in second and "a product" in why for _, _, second, why in apart)
    assert all("test_real_explain.py" in first for _, first, _, _ in joined)  # with their source lines
    assert f"kernel0: {moved / 1e6:.3f} MB moved" in str(result)
    assert "stays outside: a product" in str(result) and "stays outside: a product" in result.to_html()


def test_explains_what_stays_apart():
    def f(x, table, index):
        rows = paddle.gather(table, index)  # its kernel checks the indices
        noise = paddle.rand([8, 8])
        return paddle.tanh(paddle.exp(rows)) + x, paddle.tanh(paddle.exp(noise)), paddle.exp(x[:2].reshape([-1]))

    result = paddle.jit.explain(f, paddle.ones([8, 8]), paddle.ones([20, 8]), paddle.arange(8))
    text = str(result)
    assert "data-dependent: its kernel checks the indices" in text
    assert "random: it draws its numbers by a kernel" in text
    assert all(d[3] for g in result.groups for d in g["decisions"])  # every decision has a reason


def test_explains_kernels_of_one_group():
    def f(x):
        y = x * 2.0
        return y.sum(0), y.sum(1)

    result = paddle.jit.explain(f, paddle.ones([256, 128]))
    (group,) = result.groups
    assert len(group["kernels"]) == 2
    assert "other reduction axes" in group["kernels"][1][1] and "other reduction axes" in str(result)


def test_explains_a_layer_with_dynamic_sizes():
    net = paddle.jit.to_static(
        nn.Sequential(nn.Linear(4, 8), nn.GELU()), input_spec=[paddle.static.InputSpec([None, 4], "float32")]
    )
    result = paddle.jit.explain(net, paddle.ones([3, 4]))
    assert result.groups and all(g["bytes"] == -1 for g in result.groups)
    assert "sizes known when it runs" in str(result)
