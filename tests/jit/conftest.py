"""The transformation is tested against plain Python on a reference interpreter, so those tests need no compiled core; files
named test_real_* run on the real one."""

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

_REAL = getattr(getattr(sys.modules["paddle"], "_core", None), "trace", None)
if _REAL is None:
    collect_ignore_glob = ["test_real_*"]


@pytest.fixture(autouse=True)
def reference_core(request):
    from paddle.jit import _trace_api

    if request.module.__name__.rsplit(".", 1)[-1].startswith("test_real_"):
        previous = _trace_api.install(_REAL)
        yield _REAL
        _trace_api.install(previous)
        return
    import fake_core
    from paddle.jit.dy2static import convert

    convert._ignored_modules.update(("fake_core", "fake_tensors", "fake_arrays"))
    previous = _trace_api.install(fake_core)
    yield fake_core
    if fake_core.tracing():
        fake_core.abort_trace(fake_core.current.trace)
    _trace_api.install(previous)
