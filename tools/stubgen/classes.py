"""Classes that a stubbed module defines itself."""

from __future__ import annotations

import inspect

from . import signature


def _member(name: str, value) -> str:
    if isinstance(value, property):
        setter = f"@{name}.setter\ndef {name}(self, value: Any) -> None: ...\n" if value.fset else ""
        return f"@property\ndef {name}(self) -> Any: ...\n" + setter
    if isinstance(value, (staticmethod, classmethod)):
        kind = "staticmethod" if isinstance(value, staticmethod) else "classmethod"
        return f"@{kind}\n" + signature.function(name, value.__func__)
    if inspect.isroutine(value):
        return signature.function(name, value, method=True)
    return f"{name}: Any\n"


def class_stub(name: str, cls: type) -> str:
    """Public members and the constructor; anything else is found at run time."""
    members = {n: v for n, v in vars(cls).items() if not n.startswith("_") or n in ("__init__", "__call__")}
    body = "".join(_member(n, v) for n, v in sorted(members.items()))
    body += "def __getattr__(self, name: str) -> Any: ...\n"
    return f"class {name}:\n" + "".join(f"    {line}\n" for line in body.splitlines())
