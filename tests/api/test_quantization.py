"""paddle.quantization against what official paddle 3.3.1 computes for the same weights and inputs."""

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.quantization import PTQ, QAT, BaseQuanter, QuantConfig, quanter
from paddle.quantization.observers import AbsmaxObserver, GroupWiseWeightObserver
from paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver

MOVING = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stub, self.conv = nn.quant.Stub(), nn.Conv2D(2, 3, 3, padding=1)
        self.act, self.pool = nn.ReLU(), nn.AvgPool2D(2)
        self.fc = nn.Sequential(nn.Linear(12, 5), nn.ReLU(), nn.Linear(5, 2))

    def forward(self, x):
        return self.fc(self.pool(self.act(self.conv(self.stub(x)))).flatten(1))


def networks():
    """Two networks and an input from one stream of numbers, made in this order."""
    stream = np.random.RandomState(0)

    def filled():
        net = Net()
        for p in net.state_dict().values():
            p.set_value(stream.randn(*p.shape).astype("float32"))
        return net

    first = filled()
    x = paddle.to_tensor(stream.randn(2, 2, 4, 4).astype("float32"), stop_gradient=False)
    return first, x, filled()


def test_training_with_quantisers():
    net, x, _ = networks()
    method = QAT(QuantConfig(activation=MOVING, weight=MOVING))
    model = method.quantize(net)
    kinds = [type(m).__name__ for m in model.sublayers()]
    assert kinds.count("FakeQuanterWithAbsMaxObserverLayer") == 10 and kinds.count("ObserveWrapper") == 3
    assert isinstance(model.conv, nn.quant.qat.QuantedConv2D) and isinstance(model.fc[2], nn.quant.qat.QuantedLinear)
    assert isinstance(net.conv, nn.Conv2D)
    for _ in range(3):
        y = model(x)
    want = [[0.04582566, 10.741361], [-1.1707706, 11.265523]]
    np.testing.assert_allclose(y.numpy(), want, rtol=1e-5)
    y.sum().backward()
    np.testing.assert_allclose(float(x.grad.abs().sum()), 71.09961, rtol=1e-5)
    np.testing.assert_allclose(float(model.conv.weight.grad.abs().sum()), 67.35746, rtol=1e-5)
    state = {k: float(v) for k, v in model.state_dict().items() if v.size == 1}
    for name, value in {"_scale": 2.2237866, "_state": 3.439, "_accum": 7.647602}.items():
        np.testing.assert_allclose(state["conv.weight_quanter." + name], value, rtol=1e-6)
    np.testing.assert_allclose(state["fc.1._observer._scale"], 9.275893, rtol=1e-5)
    model.eval()
    before = dict(state)
    np.testing.assert_allclose(model(x).numpy(), want, rtol=1e-5)
    assert {k: float(v) for k, v in model.state_dict().items() if v.size == 1} == before
    fixed = method.convert(model, remain_weight=True)
    np.testing.assert_allclose(fixed(x).numpy(), want, rtol=1e-5)
    whole = method.convert(model)
    w = whole.conv.weight.numpy()
    assert np.array_equal(w, np.rint(w)) and np.abs(w).max() <= 128 and whole.conv.converted
    np.testing.assert_allclose(whole(x).numpy(), want, atol=0.5)


def test_observers_after_training():
    _, x, net = networks()
    net.eval()
    config = QuantConfig(activation=None, weight=None)
    config.add_type_config(nn.Linear, activation=AbsmaxObserver(), weight=AbsmaxObserver())
    config.add_layer_config([net.conv], AbsmaxObserver(quant_bits=4), AbsmaxObserver(quant_bits=4))
    method = PTQ(config)
    model = method.quantize(net)
    assert isinstance(model.act, nn.ReLU) and isinstance(model.conv, nn.quant.qat.QuantedConv2D)
    for i in (1, 2):
        y = model(x * i)
    np.testing.assert_array_equal(y.numpy(), net(x * 2).numpy())
    np.testing.assert_allclose(y.numpy(), [[-10.828333, 1.4209584], [-6.039603, 7.895362]], rtol=1e-5)
    assert model.conv.activation_quanter.scales().item() == (x * 2).abs().max().item()
    converted = method.convert(model)
    np.testing.assert_allclose(converted(x).numpy(), [[-3.564833, 0.03459108], [-3.0258305, 3.810305]], rtol=1e-4)
    with pytest.raises(AssertionError, match="converted only once"):
        converted.conv._convert()


def test_groups_of_rows():
    w = np.random.RandomState(1).randn(256, 3).astype("float32")
    w[128:, 1] = 0
    observer = GroupWiseWeightObserver(quant_bits=4)._instance(None)
    observer(paddle.to_tensor(w))
    want = np.abs(w.reshape(2, 128, 3)).max(1)
    want[1, 1] = 1e-8
    np.testing.assert_array_equal(observer.scales().numpy(), want)
    assert (observer.bit_length(), observer.quant_axis(), observer.zero_points().shape) == (4, -1, [2, 3])
    both = nn.quant.format.LinearQuanterDequanter.from_quanter(observer)
    steps = np.rint(w / np.repeat(want, 128, 0) * 7)
    np.testing.assert_array_equal(both._quanter(paddle.to_tensor(w)).numpy(), steps)
    np.testing.assert_allclose(both(paddle.to_tensor(w)).numpy(), steps / 7 * np.repeat(want, 128, 0), atol=1e-6)
    for shape, size in (((100, 3), 64), ((128, 3, 1), 64), ((128, 3), 32)):
        with pytest.raises(AssertionError):
            GroupWiseWeightObserver(group_size=size)._instance(None)(paddle.ones(shape))


def test_configurations():
    net = Net()
    config = QuantConfig(activation=MOVING, weight=None)
    text = "FakeQuanterWithAbsMaxObserver(name=None,moving_rate=0.9,bit_length=8,dtype=float32)"
    assert str(MOVING) == repr(MOVING) == text
    assert str(config) == f"Global config:\nactivation: {text}\nweight: None\n"
    config.add_type_config([nn.Linear], weight=AbsmaxObserver())
    config.add_name_config(net.fc[0].full_name(), activation=AbsmaxObserver(), weight=MOVING)
    model = QAT(config).quantize(net)
    assert type(model.fc[0].weight_quanter).__name__ == "FakeQuanterWithAbsMaxObserverLayer"
    assert type(model.fc[2].weight_quanter).__name__ == "AbsmaxObserverLayer" and model.fc[2].activation_quanter is None
    config.add_customized_leaf(nn.Sequential)
    assert config.customized_leaves == [nn.Sequential]
    assert type(QAT(config).quantize(net).fc).__name__ == "ObserveWrapper"
    with pytest.raises(AssertionError):
        config.add_qat_layer_mapping(3, nn.Linear)

    class Twice(nn.Layer):
        def __init__(self, layer, q_config):
            super().__init__()

        def forward(self, x):
            return x * 2

    config.add_qat_layer_mapping(nn.ReLU, Twice)
    assert isinstance(QAT(config).quantize(net).act, Twice)
    net.eval()
    with pytest.raises(AssertionError, match="training mode"):
        QAT(config).quantize(net)
    net.train()
    with pytest.raises(AssertionError, match="evaluation mode"):
        PTQ(config).quantize(net)


@quanter("HalvesFactory")
class Halves(BaseQuanter):
    def __init__(self, layer, by=2.0):
        super().__init__()
        self.by = by

    def forward(self, input):
        return input / self.by

    def scales(self):
        return None

    def zero_points(self):
        return None

    def quant_axis(self):
        return -1

    def bit_length(self):
        return 8


def test_quantisers_of_the_users_own():
    factory = HalvesFactory(by=4.0)  # noqa: F821 - the decorator made it
    assert str(factory) == "HalvesFactory(by=4.0)"
    layer = nn.Linear(3, 2)
    model = QAT(QuantConfig(activation=factory, weight=None)).quantize(nn.Sequential(layer))
    x = paddle.randn([5, 3])
    np.testing.assert_allclose(model(x).numpy(), layer(x / 4).numpy(), rtol=1e-5)


def test_a_quantised_model_is_captured():
    net, x, _ = networks()
    model = QAT(QuantConfig(activation=MOVING, weight=MOVING)).quantize(net)
    model(x)
    model.eval()
    compiled = paddle.jit.to_static(model, full_graph=True)
    np.testing.assert_allclose(compiled(x).numpy(), model(x).numpy(), rtol=1e-5)
