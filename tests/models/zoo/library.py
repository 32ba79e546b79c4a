"""Networks of paddle.vision.models."""

from paddle.vision import models

from .registry import model


def register(name, make, size, doc, channels=3):
    model(name, lambda n, draw: [draw.image(n, channels, size, size)], make, doc=doc, source=__name__)(object)


register("vision_resnet18", lambda: models.resnet18(num_classes=10), 32, "paddle.vision's ResNet-18.")
register("vision_mobilenet_v2", lambda: models.mobilenet_v2(scale=0.25, num_classes=10), 96, "MobileNetV2 x0.25.")
register("vision_lenet", lambda: models.LeNet(num_classes=10), 28, "LeNet-5.", channels=1)
register("vision_squeezenet", lambda: models.squeezenet1_1(num_classes=10), 64, "SqueezeNet 1.1.")
