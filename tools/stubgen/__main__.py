"""Writes type stubs into an installed package.

    python tools/stubgen --package DIR/paddle

Modules whose names come from the C extension or load on first use get a .pyi beside them; the others are typed by their
own sources (py.typed). The package is imported, so it must run on this machine.
"""

from __future__ import annotations

import __future__
import argparse
import importlib
import inspect
import pkgutil
import sys
import types
from pathlib import Path

if not __package__:  # run as a folder: python tools/stubgen
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stubgen import signature
from stubgen.classes import class_stub
from stubgen.operators import Operators
from stubgen.tensor import core_stub


def _public(module) -> dict[str, object]:
    try:
        names = dir(module)
    except TypeError:  # the module offers a method named __dir__
        names = list(vars(module))
    names = [n for n in names if not n.startswith("_")]
    found = {}
    for name in names:
        try:
            found[name] = getattr(module, name)
        except (ImportError, AttributeError):
            continue  # offered only where another package is installed
    return found


def _needs_stub(module, members: dict[str, object], operators: Operators) -> bool:
    lazy = getattr(module, "__getattr__", None)
    return (lazy is not None and not hasattr(lazy, "elsewhere")) or any(operators.is_operator(v) for v in members.values())


def _home(value) -> str | None:
    """The module that a function or class can be imported from, if it is ours and has it by its own name."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not isinstance(module, str) or not module.startswith("paddle") or name is None:
        return None
    if module.startswith("paddle._core."):  # parts of the extension module have no file of their own
        return None
    return module if vars(sys.modules.get(module) or object).get(name) is value else None


def _entry(module, name: str, value, operators: Operators) -> str:
    if isinstance(value, __future__._Feature):
        return ""
    if isinstance(value, types.ModuleType):
        if not value.__name__.startswith("paddle") or value.__name__.startswith("paddle._core."):
            return f"{name}: Any\n"
        parent, _, leaf = value.__name__.rpartition(".")
        return f"from {parent} import {leaf} as {name}\n" if parent else ""
    if operators.is_operator(value):
        return operators.stub(name, value)
    home = _home(value) if inspect.isclass(value) or inspect.isfunction(value) else None
    if home and home != module.__name__ and name != "Tensor":
        return f"from {home} import {value.__name__} as {name}\n"
    if inspect.isclass(value):
        return "" if name == "Tensor" else class_stub(name, value)
    if callable(value):
        return signature.function(name, value)
    kind = type(value).__name__
    return f"{name}: {kind if kind in ('int', 'float', 'str', 'bool') else 'Any'}\n"


def module_stub(module, members, operators: Operators) -> str:
    body = [_entry(module, n, v, operators) for n, v in sorted(members.items())]
    text = "".join(body)
    head = signature.HEADER
    if "Tensor" not in members:
        head = head.replace("import Tensor as Tensor", "import Tensor")
    return "import builtins\n" + head + signature.unshadowed(text, members)


def _modules(root):
    yield root
    for info in pkgutil.walk_packages(root.__path__, root.__name__ + "."):
        if "._" in info.name or info.name.endswith("__main__"):
            continue
        try:
            yield importlib.import_module(info.name)
        except ImportError:
            continue  # retired modules, and those that need another package


def _path(package: Path, module) -> Path:
    parts = module.__name__.split(".")[1:]
    at = package.joinpath(*parts)
    return at / "__init__.pyi" if hasattr(module, "__path__") else at.with_suffix(".pyi")


def generate(package: Path, root: Path) -> int:
    """Returns the number of stubs written."""
    sys.path.insert(0, str(package.parent))
    paddle = importlib.import_module("paddle")
    core = importlib.import_module("paddle._core")
    operators = Operators(root, type(paddle.add))
    stubs = {package / "_core.pyi": core_stub(core, operators)}
    for module in _modules(paddle):
        members = _public(module)
        if _needs_stub(module, members, operators):
            stubs[_path(package, module)] = module_stub(module, members, operators)
    for path, text in stubs.items():
        path.write_text(text)
    return len(stubs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", type=Path, required=True, help="the installed folder named paddle")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], help="the source tree")
    args = parser.parse_args()
    print(f"{generate(args.package.resolve(), args.root.resolve())} stubs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
