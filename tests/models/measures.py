"""How results of two runs of a model are compared."""

from __future__ import annotations

import numpy as np


def leaves(value) -> list:
    """The arrays and numbers of a result, as a loaded program gives them: dicts in the order of their sorted keys."""
    if isinstance(value, dict):
        return [x for key in sorted(value) for x in leaves(value[key])]
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in leaves(item)]
    return [value] if value is not None else []


def arrays(value) -> list[np.ndarray]:
    return [np.asarray(x.numpy() if hasattr(x, "numpy") else x) for x in leaves(value)]


def distance(got: np.ndarray, want: np.ndarray, floor: float = 0.0) -> float:
    """The largest difference relative to the largest value wanted (or to ``floor``); infinite where shapes, kinds or NaNs differ."""
    if got.shape != want.shape or got.dtype.kind != want.dtype.kind:
        return float("inf")
    if not want.size:
        return 0.0
    a, b = got.astype("complex128" if want.dtype.kind == "c" else "float64"), want.astype("complex128" if want.dtype.kind == "c" else "float64")
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return float("inf")
    scale = max(float(np.abs(b[np.isfinite(b)]).max(initial=0.0)), floor)
    gap = float(np.abs(np.where(np.isfinite(b), a - b, 0)).max())
    return gap / scale if scale else gap


def worst(got: list, want: list, floor: float = 0.0) -> float:
    if len(got) != len(want):
        return float("inf")
    return max((distance(a, b, floor) for a, b in zip(got, want)), default=0.0)
