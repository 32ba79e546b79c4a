"""convert_to_mixed_precision: files in half precision give what NumPy computes, within half precision."""

import numpy as np
import paddle
import pytest
from paddle import inference, nn
from paddle.static import InputSpec

X = np.random.RandomState(0).randn(4, 8).astype("float32")


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.norm = nn.Linear(8, 64), nn.Linear(64, 3), nn.LayerNorm(64)

    def forward(self, x):
        return nn.functional.softmax(self.b(self.norm(nn.functional.relu(self.a(x)))))


def expected(net):
    a = np.maximum(X @ net.a.weight.numpy() + net.a.bias.numpy(), 0)
    a = (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5)
    y = a @ net.b.weight.numpy() + net.b.bias.numpy()
    e = np.exp(y - y.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@pytest.fixture
def saved(tmp_path):
    paddle.seed(0)
    net = Net()
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 8], "float32", "x")])
    return net, tmp_path


def convert(path, precision, **options):
    names = [str(path / n) for n in ("net.json", "net.pdiparams", "half/net.json", "half/net.pdiparams")]
    inference.convert_to_mixed_precision(*names, precision, inference.PlaceType.CPU, **options)
    return inference.create_predictor(inference.Config(names[2], names[3])), path / "half"


@pytest.mark.parametrize("precision, tolerance", [("Half", 4e-3), ("Bfloat16", 3e-2)])
def test_values_and_sizes(saved, precision, tolerance):
    net, path = saved
    predictor, half = convert(path, inference.PrecisionType[precision])
    (out,) = predictor.run([paddle.to_tensor(X)])
    assert str(out.dtype).endswith("float32")
    np.testing.assert_allclose(out.numpy(), expected(net), atol=tolerance)
    assert (half / "net.pdiparams").stat().st_size < 0.75 * (path / "net.pdiparams").stat().st_size
    assert str(net.a.weight.dtype).endswith("float32")
    text = (half / "net.json").read_text()
    assert ("float16" in text or "f16" in text) if precision == "Half" else ("bf16" in text or "bfloat16" in text)


def test_types_of_inputs_and_lists(saved):
    net, path = saved
    predictor, _ = convert(path, inference.PrecisionType.Half, keep_io_types=False)
    (out,) = predictor.run([paddle.to_tensor(X.astype("float16"))])
    assert str(out.dtype).endswith("float16")
    np.testing.assert_allclose(out.numpy().astype("float32"), expected(net), atol=6e-3)
    predictor, _ = convert(path, inference.PrecisionType.Half, black_list={"matmul"})
    (out,) = predictor.run([paddle.to_tensor(X)])
    np.testing.assert_allclose(out.numpy(), expected(net), atol=4e-3)


def test_errors(saved):
    _, path = saved
    with pytest.raises(ValueError, match="expected precision Half or Bfloat16, got Int8"):
        convert(path, inference.PrecisionType.Int8)
    with pytest.raises(TypeError, match="unexpected keyword argument 'grey_list'"):
        convert(path, inference.PrecisionType.Half, grey_list=set())
    with pytest.raises(ValueError, match="no program"):
        convert(path / "elsewhere", inference.PrecisionType.Half)
