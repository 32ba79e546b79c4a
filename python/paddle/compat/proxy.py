"""``import torch`` that finds paddle."""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import sys

__all__ = []


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds torch and its submodules as paddle and its own."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.split(".")[0] != "torch":
            return None
        name = "paddle" + fullname[5:]
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=name)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        sys.modules[module.__name__] = sys.modules["paddle" + module.__name__[5:]]


_finder = _Finder()
_hidden = {}  # modules of a real torch, put aside while the stand-in is there


def _torch_modules():
    return {n: m for n, m in sys.modules.items() if n == "torch" or n.startswith("torch.")}


def enable_torch_proxy(*, scope=None, blocked_modules=None, backend="torch", silent=False):
    """From now on ``import torch`` gives paddle: to everybody, so `scope` and `blocked_modules` must be None.

    Raises:
        NotImplementedError: only some modules are meant. ValueError: another `backend`.
    """
    if scope is not None or blocked_modules is not None:
        raise NotImplementedError("[enable_compat] the stand-in for torch is there for all modules or for none")
    if backend != "torch":
        raise ValueError(f"[enable_compat] expected backend 'torch', got {backend!r}")
    if _finder in sys.meta_path:
        return
    _hidden.clear()
    _hidden.update(_torch_modules())
    for name in _hidden:
        del sys.modules[name]
    sys.meta_path.insert(0, _finder)


def disable_torch_proxy():
    """``import torch`` gives torch again, if it is there."""
    if _finder not in sys.meta_path:
        return
    sys.meta_path.remove(_finder)
    for name in _torch_modules():
        del sys.modules[name]
    sys.modules.update(_hidden)
    _hidden.clear()


@contextlib.contextmanager
def use_torch_proxy_guard(*, enable=True):
    """``enable_torch_proxy`` (or ``disable_torch_proxy``) within a block."""
    before = _finder in sys.meta_path
    (enable_torch_proxy if enable else disable_torch_proxy)()
    try:
        yield
    finally:
        (enable_torch_proxy if before else disable_torch_proxy)()
