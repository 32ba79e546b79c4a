"""Layer: registration, state, hooks, containers, conversion, printing. Expected values are written out by hand."""

import copy
import pickle

import numpy as np
import paddle
import pytest
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.seq = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Sequential(nn.Dropout(0.1)))
        self.shared = self.fc
        self.register_buffer("count", paddle.zeros([1], "int64"))
        self.register_buffer("scratch", paddle.zeros([1]), persistable=False)
        self.scale = self.create_parameter([3], attr=nn.initializer.Constant(2.0))

    def forward(self, x, k=1):
        return self.seq(self.fc(x)) * k


def names(pairs):
    return [name for name, _ in pairs]


def test_tree_and_state_names():
    net = Net()
    assert names(net.named_parameters()) == ["scale", "fc.weight", "fc.bias", "seq.0.weight", "seq.0.bias"]
    assert names(net.named_parameters(prefix="z", include_sublayers=False)) == ["z.scale"]
    assert names(net.named_sublayers()) == ["fc", "seq", "seq.0", "seq.1", "seq.2", "seq.2.0"]
    assert names(net.named_children()) == ["fc", "seq"]
    assert names(net.named_buffers()) == ["count", "scratch"]
    # A shared layer has one set of parameters, but both its names in the state.
    assert list(net.state_dict()) == [
        "scale", "count", "fc.weight", "fc.bias", "seq.0.weight", "seq.0.bias", "shared.weight", "shared.bias",
    ]  # fmt: skip
    assert "scratch" in net.to_static_state_dict()


def test_unique_names_follow_the_checkpoint_format():
    with paddle.base.unique_name.guard():
        first, second = nn.Linear(1, 1), nn.Linear(1, 1)
        norm = nn.BatchNorm2D(3)
        assert [first.weight.name, first.bias.name, second.weight.name] == [
            "linear_0.w_0",
            "linear_0.b_0",
            "linear_1.w_0",
        ]
        assert [norm.weight.name, norm._mean.name, norm._variance.name] == [
            "batch_norm2d_0.w_0", "batch_norm2d_0.w_1", "batch_norm2d_0.w_2",
        ]  # fmt: skip
        assert paddle.create_parameter([1], "float32").name == "create_parameter_0.w_0"
        assert nn.ReLU6().full_name() == "re_lu6_0"
    with paddle.base.unique_name.guard("pre/"):
        assert nn.Linear(1, 1).full_name() == "pre/linear_0"


def test_set_state_dict_reports_and_copies():
    net = nn.Linear(2, 3)
    with pytest.warns(UserWarning, match="Skip loading"):
        missing, unexpected = net.set_state_dict({"bias": np.array([1, 2, 3], "float32"), "other": paddle.ones([1])})
    assert (missing, unexpected) == (["weight"], ["other"])
    assert net.bias.tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(RuntimeError, match="Missing key"):
        net.load_state_dict({"bias": net.bias})
    with pytest.warns(UserWarning, match="expected shape"):
        assert net.set_state_dict({"weight": paddle.ones([3, 2]), "bias": paddle.ones([3])})[1] == ["weight"]


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda layer: setattr(layer, "weight", paddle.ones([2, 3])), TypeError),
        (lambda layer: layer.add_parameter("a.b", layer.bias), KeyError),
        (lambda layer: layer.add_parameter("", layer.bias), KeyError),
        (lambda layer: layer.add_parameter("w", 3), TypeError),
        (lambda layer: layer.register_buffer("name", paddle.ones([1])), KeyError),
        (lambda layer: layer.register_buffer("b", 3), TypeError),
        (lambda layer: layer.nothing, AttributeError),
        (lambda layer: delattr(layer, "nothing"), AttributeError),
        (lambda layer: layer.to(device=3), ValueError),
        (lambda layer: layer.astype("float7"), ValueError),
        (lambda layer: layer.get_sublayer("zz"), AttributeError),
        (lambda layer: nn.Layer()(1), NotImplementedError),
    ],
)
def test_misuse_raises(act, error):
    with pytest.raises(error):
        act(nn.Linear(2, 3))


def test_attribute_moves_between_tables():
    layer = nn.Linear(2, 3)
    layer.weight = None
    assert layer.weight is None
    layer.weight = nn.Parameter(paddle.ones([2, 3]))
    assert layer(paddle.ones([1, 2])).tolist() == (layer.bias + 2).unsqueeze(0).tolist()
    layer.extra = nn.ReLU()
    del layer.extra
    assert not hasattr(layer, "extra")


def test_hooks_order_forms_and_removal():
    net, log = Net(), []
    net.eval()
    handles = [
        net.register_forward_pre_hook(lambda layer, args: log.append("pre")),
        net.register_forward_pre_hook(
            lambda layer, args, kwargs: (log.append(("first", kwargs["k"])), (args, {"k": 3}))[1],
            with_kwargs=True, prepend=True,
        ),
        net.register_forward_post_hook(
            lambda layer, args, kwargs, out: log.append(("post", kwargs["k"])), with_kwargs=True
        ),
        net.register_forward_post_hook(lambda layer, args, out: log.append(("always", out is None)), always_call=True),
    ]  # fmt: skip
    net(paddle.ones([1, 2]), k=2)
    assert log == [("first", 2), "pre", ("post", 3), ("always", False)]
    log.clear()
    with pytest.raises(ValueError):
        net(paddle.ones([1, 5]), k=2)
    assert log[-1] == ("always", True)
    for handle in handles:
        handle.remove()
    log.clear()
    replaced = net.register_forward_post_hook(lambda layer, args, out: out * 0 + 7)
    assert net(paddle.ones([1, 2])).tolist() == [[7.0, 7.0]]
    replaced.remove()
    assert log == [] and not net._forward_pre_hooks and not net._forward_post_hooks_always_called


def test_train_apply_and_conversion():
    net = Net()
    assert not net.eval().seq[2][0].training and net.train().seq[2][0].training
    order = []
    net.apply(lambda layer: order.append(type(layer).__name__))
    assert order == ["Linear", "Linear", "ReLU", "Dropout", "Sequential", "Sequential", "Net"]
    weight = net.fc.weight
    net.to(dtype="float64")
    assert net.fc.weight is weight and weight.dtype == paddle.float64
    net.float()
    assert weight.dtype == paddle.float32


def test_copies_keep_values_and_sharing():
    net = Net()
    twin = copy.deepcopy(net)
    assert twin.shared is twin.fc and twin.fc.weight is not net.fc.weight
    np.testing.assert_array_equal(twin.fc.weight.numpy(), net.fc.weight.numpy())
    again = pickle.loads(pickle.dumps(nn.Sequential(net.fc, nn.ReLU())))
    np.testing.assert_array_equal(again[0].weight.numpy(), net.fc.weight.numpy())
    assert isinstance(again[0].weight, nn.Parameter) and again[0].weight.trainable


def test_containers():
    layers = nn.LayerList([nn.ReLU(), nn.Tanh()])
    layers.insert(0, nn.GELU())
    layers += [nn.ReLU6()]
    del layers[1]
    assert [type(layer).__name__ for layer in layers] == ["GELU", "Tanh", "ReLU6"]
    assert list(layers._sub_layers) == ["0", "1", "2"]
    assert isinstance(layers[-1], nn.ReLU6) and len(layers[1:]) == 2
    with pytest.raises(IndexError):
        layers[3]
    table = nn.LayerDict([("a", nn.ReLU())])
    table.update({"b": nn.Tanh()})
    assert list(table) == ["a", "b"] and "a" in table and isinstance(table.pop("a"), nn.ReLU)
    chain = nn.Sequential(("x", nn.ReLU()), ("y", nn.Tanh()))
    assert isinstance(chain["y"], nn.Tanh) and chain[1] is chain["y"] and len(chain[:1]) == 1
    held = nn.ParameterList([paddle.create_parameter([2], "float32")])
    held.append(paddle.create_parameter([3], "float32"))
    assert list(held.state_dict()) == ["0", "1"] and held[-1].shape == [3]


def test_repr():
    text = repr(nn.Sequential(nn.Conv2D(3, 4, 3, padding=1), nn.LSTM(2, 3)))
    assert text == (
        "Sequential(\n"
        "  (0): Conv2D(3, 4, kernel_size=[3, 3], padding=1, data_format=NCHW)\n"
        "  (1): LSTM(2, 3\n"
        "    (0): RNN(\n"
        "      (cell): LSTMCell(2, 3)\n"
        "    )\n"
        "  )\n"
        ")"
    )


def test_initializers_follow_their_distributions():
    paddle.seed(3)
    init = nn.initializer
    bound = np.sqrt(6 / 500)
    for make, mean, std in (
        (init.XavierUniform(), 0, bound / np.sqrt(3)),
        (init.XavierNormal(), 0, np.sqrt(2 / 500)),
        (init.KaimingNormal(), 0, np.sqrt(2 / 200)),
        (init.Normal(1.0, 2.0), 1, 2),
        (init.Uniform(-2.0, 1.0), -0.5, 3 / np.sqrt(12)),
        # N(0, 1) cut at ±1: variance 1 - 2 φ(1) / (2 Φ(1) - 1)
        (init.TruncatedNormal(0.0, 1.0, -1.0, 1.0), 0, np.sqrt(1 - 2 * 0.24197072 / 0.68268949)),
    ):
        value = paddle.create_parameter([200, 300], "float32", default_initializer=make).numpy()
        # Standard errors of 60,000 draws, five of them.
        assert abs(value.mean() - mean) < 5 * std / 245 and abs(value.std() / std - 1) < 0.02, make
    matrix = paddle.create_parameter([3, 5], "float32", default_initializer=init.Orthogonal(2.0)).numpy()
    np.testing.assert_allclose(matrix @ matrix.T, 4 * np.eye(3), atol=1e-5)
    kernel = paddle.create_parameter([2, 2, 3], "float32", default_initializer=init.Dirac()).numpy()
    assert kernel.tolist() == [[[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 0]]]
    init.set_global_initializer(init.Constant(3.0), init.Constant(4.0))
    try:
        layer = nn.Linear(1, 1, bias_attr=init.Constant(5.0))
        assert (layer.weight.item(), layer.bias.item()) == (3.0, 5.0)
    finally:
        init.set_global_initializer(None)


def test_clipping_and_vectors():
    grads = [paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]]), paddle.to_tensor([0.0, 12.0])]
    pairs = [(paddle.create_parameter(g.shape, "float32"), g) for g in grads]
    clipped = nn.ClipGradByGlobalNorm(1.3)(pairs)  # the norm of all is 13
    np.testing.assert_allclose(clipped[0][1].numpy(), np.array([[1, 2], [2, 4]]) / 10, rtol=1e-6)
    np.testing.assert_allclose(nn.ClipGradByNorm(2.5)(pairs)[0][1].numpy(), [[0.5, 1], [1, 2]], rtol=1e-6)
    assert nn.ClipGradByValue(1.5)(pairs)[1][1].tolist() == [0.0, 1.5]
    pairs[1][0].need_clip = False
    assert nn.ClipGradByGlobalNorm(2.5)(pairs)[1][1].tolist() == [0.0, 12.0]
    params = [p for p, _ in pairs]
    nn.utils.vector_to_parameters(paddle.arange(6, dtype="float32"), params)
    assert params[0].tolist() == [[0, 1], [2, 3]] and nn.utils.parameters_to_vector(params).tolist() == [
        0,
        1,
        2,
        3,
        4,
        5,
    ]


def test_weight_norm_splits_and_restores():
    layer = nn.Linear(2, 2, weight_attr=nn.initializer.Assign([[3.0, 0.0], [4.0, 2.0]]))
    nn.utils.weight_norm(layer, dim=1)
    assert list(layer.state_dict()) == ["bias", "weight_v", "weight_g"]
    np.testing.assert_allclose(layer.weight_g.numpy(), [5, 2], rtol=1e-6)
    layer.weight_g.set_value(paddle.to_tensor([10.0, 2.0]))
    np.testing.assert_allclose(layer(paddle.ones([1, 2])).numpy(), [[14, 2]], rtol=1e-6)
    nn.utils.remove_weight_norm(layer)
    np.testing.assert_allclose(layer.weight.numpy(), [[6, 0], [8, 2]], rtol=1e-6)
