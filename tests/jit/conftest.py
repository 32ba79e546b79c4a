"""The transformation is tested against plain Python on a reference interpreter, so these tests need no compiled core."""

from __future__ import annotations

import os
import sys
import types

import pytest

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, _HERE)

try:
    import paddle  # noqa: F401
except ImportError:
    for name in [n for n in sys.modules if n == "paddle" or n.startswith("paddle.")]:
        del sys.modules[name]
    package = types.ModuleType("paddle")
    package.__path__ = [os.path.join(_HERE, "..", "..", "python", "paddle")]
    sys.modules["paddle"] = package
    for name in ("static", "static.nn"):
        sub = types.ModuleType(f"paddle.{name}")
        sub.__path__ = [os.path.join(package.__path__[0], *name.split("."))]
        sys.modules[f"paddle.{name}"] = sub


@pytest.fixture(autouse=True)
def reference_core():
    import fake_core
    from paddle.jit import _trace_api
    from paddle.jit.dy2static import convert

    convert._ignored_modules.add("fake_core")
    previous = _trace_api.install(fake_core)
    yield fake_core
    if fake_core._trace is not None:
        fake_core.abort_trace(fake_core._trace)
    _trace_api.install(previous)
