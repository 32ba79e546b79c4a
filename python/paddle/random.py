"""The random generator, under the name that other frameworks have for it."""

from .framework.random import default_generator as _generator

__all__ = ["initial_seed"]


def initial_seed() -> int:
    """The seed that was set last."""
    return _generator.initial_seed()
