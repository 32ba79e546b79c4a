"""Linear algebra: the operators that are public under this name."""

from . import _core

globals().update(_core._public.get("paddle.linalg", {}))


def __getattr__(name):
    import paddle

    if name.startswith("__"):
        raise AttributeError(f"module 'paddle.linalg' has no attribute {name!r}")
    return getattr(paddle, name)
