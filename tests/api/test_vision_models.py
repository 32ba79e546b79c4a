"""Image networks: names of parameters as official Paddle's files have them, shapes, training steps."""

import paddle
import pytest
from paddle.vision import models

CASES = [
    ("squeezenet1_0", 52, "_conv8._conv_path2._conv.weight", [256, 64, 3, 3]),
    ("squeezenet1_1", 52, "_conv9.weight", [10, 512, 1, 1]),
    ("mobilenet_v1", 137, "conv5_6._depthwise_conv.0.weight", [512, 1, 3, 3]),
    ("mobilenet_v2", 262, "features.1.conv.0.1._mean", [32]),
    ("resnext50_32x4d", 267, "layer1.0.conv2.weight", [128, 4, 3, 3]),
]


@pytest.mark.parametrize("name, count, parameter, shape", CASES)
def test_names_and_shapes(name, count, parameter, shape):
    model = getattr(models, name)(num_classes=10)
    state = model.state_dict()
    assert state[parameter].shape == shape and len(state) == count
    model.eval()
    assert model(paddle.ones([2, 3, 64, 64])).shape == [2, 10]
    with pytest.raises(ValueError):
        getattr(models, name)(pretrained=True)


def test_vgg_and_alexnet():
    plain, normed = models.vgg11(num_classes=0), models.vgg11(num_classes=0, batch_norm=True)
    assert len(plain.state_dict()) == 16 and len(normed.state_dict()) == 48
    assert plain(paddle.ones([1, 3, 32, 32])).shape == [1, 512, 7, 7]
    assert models.alexnet(num_classes=0)(paddle.ones([1, 3, 224, 224])).shape == [1, 256, 6, 6]


@pytest.mark.parametrize("name", ["mobilenet_v1", "mobilenet_v2"])
def test_every_parameter_gets_a_gradient(name):
    model = getattr(models, name)(scale=0.25, num_classes=3)
    model(paddle.randn([4, 3, 32, 32])).sum().backward()
    assert all(p.grad is not None for p in model.parameters() if not p.stop_gradient)
