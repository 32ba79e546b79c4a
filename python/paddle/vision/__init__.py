"""Vision: models, transformations, data sets of folders, operators on boxes."""

from __future__ import annotations

from . import datasets, image, models, ops, transforms
from .datasets import *  # noqa: F403
from .image import get_image_backend, image_load, set_image_backend
from .models import *  # noqa: F403
from .transforms import *  # noqa: F403

__all__ = [
    "datasets", "get_image_backend", "image", "image_load", "models", "ops", "set_image_backend", "transforms",
    *datasets.__all__, *models.__all__, *transforms.__all__,
]  # fmt: skip
