"""Image networks against official paddle 3.3.1: names and shapes of all parameters (by digest), outputs for the same weights and pictures,
training steps. ``tests/fixtures/vision_models.json`` holds what official says."""

import hashlib
import json
import pathlib

import numpy as np
import paddle
import pytest
from paddle.vision import models

OFFICIAL = json.loads((pathlib.Path(__file__).parents[1] / "fixtures" / "vision_models.json").read_text())


@pytest.mark.parametrize("name", OFFICIAL)
def test_names_and_shapes_of_parameters(name):
    with paddle.LazyGuard():
        state = getattr(models, name)().state_dict()
    assert len(state) == OFFICIAL[name]["parameters"]
    text = "".join(f"{k} {list(v.shape)}\n" for k, v in state.items())
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == OFFICIAL[name]["digest"]


def filled(model, stream):
    """The model with weights from a stream of numbers, scaled so that activations neither vanish nor grow."""
    for name, value in model.state_dict().items():
        w = stream.randn(*value.shape)
        if len(value.shape) > 1:
            w *= (2 / np.prod(value.shape[1:] if len(value.shape) == 4 else value.shape[:1])) ** 0.5
        elif name.endswith("_variance"):
            w = 1 + 0.1 * abs(w)
        else:
            w = 1 + 0.1 * w if name.endswith("weight") else 0.1 * w
        value.set_value(w.astype("float32"))
    return model


@pytest.mark.parametrize("name", [n for n, entry in OFFICIAL.items() if "outputs" in entry])
def test_outputs_for_the_same_weights(name):
    stream, entry = np.random.RandomState(7), OFFICIAL[name]
    model = filled(getattr(models, name)(num_classes=5), stream)
    model.eval()
    picture = stream.randn(1, 3, entry["size"], entry["size"]).astype("float32")
    outputs = model(paddle.to_tensor(picture))
    outputs = outputs if isinstance(outputs, tuple) else [outputs]
    for got, want in zip(outputs, entry["outputs"], strict=True):
        np.testing.assert_allclose(got.numpy()[0], want, rtol=2e-4, atol=2e-3 * np.abs(want).max())


def test_without_the_last_layers():
    plain, normed = models.vgg11(num_classes=0), models.vgg11(num_classes=0, batch_norm=True)
    assert len(plain.state_dict()) == 16 and len(normed.state_dict()) == 48
    assert plain(paddle.ones([1, 3, 32, 32])).shape == [1, 512, 7, 7]
    assert models.alexnet(num_classes=0)(paddle.ones([1, 3, 224, 224])).shape == [1, 256, 6, 6]
    shuffled = models.shufflenet_v2_x0_25(num_classes=0, with_pool=False)
    assert shuffled(paddle.ones([2, 3, 64, 64])).shape == [2, 512, 2, 2]
    assert models.mobilenet_v3_small(scale=0.5, num_classes=0)(paddle.ones([2, 3, 64, 64])).shape == [2, 288, 1, 1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: models.mobilenet_v1(scale=0.25, num_classes=3),
        lambda: models.mobilenet_v2(scale=0.25, num_classes=3),
        lambda: models.mobilenet_v3_small(scale=0.25, num_classes=3),
        lambda: models.shufflenet_v2_x0_25(num_classes=3),
    ],
)
def test_every_parameter_gets_a_gradient(make):
    model = make()
    model(paddle.randn([4, 3, 32, 32])).sum().backward()
    assert all(p.grad is not None for p in model.parameters() if not p.stop_gradient)


def test_unknown_kinds():
    for make in (lambda: models.DenseNet(layers=100), lambda: models.vgg11(pretrained=True)):
        with pytest.raises(AssertionError):
            make()
    with pytest.raises(NotImplementedError):
        models.ShuffleNetV2(scale=0.7)
    with pytest.raises(RuntimeError):
        models.ShuffleNetV2(act="tanh")


def test_published_weights_that_are_there_are_read(tmp_path, monkeypatch):
    source = models.squeezenet1_1()
    paddle.save(source.state_dict(), str(tmp_path / "weights.pdparams"))
    asked = []

    def local(url, md5=None):
        asked.append(url)
        return str(tmp_path / "weights.pdparams")

    monkeypatch.setattr(paddle.utils.download, "get_weights_path_from_url", local)
    model = models.squeezenet1_1(pretrained=True)
    assert asked[0].endswith("SqueezeNet1_1_pretrained.pdparams")
    np.testing.assert_array_equal(model._conv9.weight.numpy(), source._conv9.weight.numpy())
