"""The `reduction` argument of losses."""

from __future__ import annotations

import functools


def _old_reduction(init):
    """Accepts the older keywords `size_average` and `reduce` for `reduction`."""

    @functools.wraps(init)
    def call(self, *args, **kwargs):
        if "size_average" in kwargs or "reduce" in kwargs:
            average, reduce = kwargs.pop("size_average", None), kwargs.pop("reduce", None)
            if reduce is False:
                kwargs["reduction"] = "none"
            else:
                kwargs["reduction"] = "sum" if average is False else "mean"
        init(self, *args, **kwargs)

    return call


def _check(name, reduction, allowed=("sum", "mean", "none")):
    if reduction not in allowed:
        raise ValueError(
            f"The value of 'reduction' in {name} should be {', '.join(map(repr, allowed))}, but received {reduction}, "
            "which is not allowed."
        )
