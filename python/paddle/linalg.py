"""Linear algebra: products, norms, covariances."""

from . import _core
from .tensor.linalg import (  # noqa: F401
    bmm,
    corrcoef,
    cov,
    cross,
    matrix_norm,
    matrix_power,
    multi_dot,
    norm,
    vecdot,
    vector_norm,
)
from .tensor.manipulation import matrix_transpose  # noqa: F401

globals().update(_core._public.get("paddle.linalg", {}))


def __getattr__(name):
    import paddle

    if name.startswith("__"):
        raise AttributeError(f"module 'paddle.linalg' has no attribute {name!r}")
    try:
        return getattr(paddle, name)
    except AttributeError:
        raise AttributeError(f"module 'paddle.linalg' has no attribute {name!r}") from None
