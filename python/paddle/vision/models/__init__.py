"""Image networks."""

from __future__ import annotations

from .lenet import LeNet
from .resnet import (
    ResNet,
    resnet18,
    resnet34,
    resnet50,
    resnet101,
    resnet152,
    resnext50_32x4d,
    wide_resnet50_2,
    wide_resnet101_2,
)

__all__ = [
    "LeNet",
    "ResNet",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "resnext50_32x4d",
    "wide_resnet50_2",
    "wide_resnet101_2",
]
