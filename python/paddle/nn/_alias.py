"""Second names of keyword arguments."""

from __future__ import annotations

import functools


def accepts(**others):
    """Decorator: ``accepts(x="input", axis="dim")`` lets callers write `input` for `x` and `dim` for `axis`.

    The signature stays that of the wrapped function. Giving both names leaves the second one unknown, so Python's own
    TypeError names it.
    """
    canonical = {other: name for name, other in others.items()}

    def wrap(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            if kwargs:
                for other in canonical.keys() & kwargs.keys():
                    if canonical[other] not in kwargs:
                        kwargs[canonical[other]] = kwargs.pop(other)
            return function(*args, **kwargs)

        return call

    return wrap
