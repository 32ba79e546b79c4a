"""Vision: models."""

from __future__ import annotations

from . import models
from .models import *  # noqa: F403

__all__ = ["models", *models.__all__]
