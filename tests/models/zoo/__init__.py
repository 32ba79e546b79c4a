"""Small models of many families, as users of Paddle write them: plain Paddle code that runs under any ``import paddle``."""

from .registry import MODELS, load_all

__all__ = ["MODELS", "load_all"]
