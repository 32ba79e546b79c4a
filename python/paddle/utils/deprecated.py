"""Marking what is on its way out."""

from __future__ import annotations

import functools
import inspect
import warnings


def deprecated(update_to: str = "", since: str = "", reason: str = "", level: int = 0):
    """Decorator: calls warn (levels 0 and 1) or raise (level 2), naming what to use instead.

    Args:
        update_to: the replacement. since: the version. reason: why. level: 2 makes calls raise RuntimeError.
    """

    def decorate(func):
        text = f"API {func.__module__}.{func.__name__} is deprecated"
        if since:
            text += f" since {since.strip()}"
        text += ", and will be removed in future versions."
        if update_to:
            text += f" Please use {update_to.strip()} instead."
        if reason:
            text += f"\nReason: {reason.strip()}"

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            if level == 2:
                raise RuntimeError(f"API {func.__module__}.{func.__name__} has been deprecated. {text}")
            warnings.warn(text, category=DeprecationWarning, stacklevel=2)
            return func(*args, **kwargs)

        wrapper.__doc__ = f"Warning:\n    {text}\n\n{func.__doc__ or ''}"
        wrapper.__signature__ = inspect.signature(func)
        return wrapper

    return decorate
