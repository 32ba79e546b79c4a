"""Parameters whose values are made later."""

from __future__ import annotations

__all__ = ["LazyGuard"]


class LazyInitHelper:
    """Whether parameters are made without their values just now."""

    def __init__(self):
        self._state = False

    def enable(self):
        """From now on parameters keep their initializer for `Parameter.initialize`."""
        self._state = True

    def disable(self):
        """From now on parameters are filled when they are made."""
        self._state = False

    @property
    def state(self):
        """Whether it is enabled (bool)."""
        return self._state


_helper = LazyInitHelper()


def lazy_init_helper():
    """The helper of this process."""
    return _helper


class LazyGuard:
    """``with paddle.LazyGuard():`` layers made inside have parameters that are filled by ``param.initialize()``."""

    def __enter__(self):
        _helper.enable()

    def __exit__(self, *args, **kwargs):
        _helper.disable()
