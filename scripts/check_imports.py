"""What the modules of python/paddle import when they are loaded: a package only those that stand before it here, and no two
modules each other, directly or through others. Imports inside of functions are free. Prints each violation."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ORDER = """_core _C_ops _typing version regularizer pir base autograd framework random utils tensor functional special linalg fft signal
geometric metric device jit nn sparse audio distribution amp optimizer static base.backward base.data_feeder base.dygraph
base.executor base.layer_helper base.param_attr io reader dataset inference quantization distributed hapi callbacks hub profiler onnx vision text incubate compat
common_ops_import pir_utils fluid sysconfig""".split()
OUTSIDE = {"_core"}  # written in C++


class Modules:
    """The modules of a package by name, with what each imports as it is loaded."""

    def __init__(self, root: Path) -> None:
        self.root = root.name
        paths = {self._name(p, root): p for p in sorted(root.rglob("*.py"))}
        self.known = set(paths) | {f"{self.root}.{name}" for name in OUTSIDE}
        self.imports = {
            name: {t: line for t, line in self._targets(name, path) if t not in (name, self.root)}
            for name, path in paths.items()
        }

    @staticmethod
    def _name(path: Path, root: Path) -> str:
        parts = path.relative_to(root.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _targets(self, name: str, path: Path) -> Iterator[tuple[str, int]]:
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for node in _at_load(ast.parse(path.read_text()).body):
            if isinstance(node, ast.Import):
                yield from ((t, node.lineno) for a in node.names for t in self._loaded(a.name, name))
                continue
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join(above + ([base] if base else []))
            for a in node.names:
                target = f"{base}.{a.name}"
                yield from ((t, node.lineno) for t in self._loaded(target if target in self.known else base, name))

    def _loaded(self, target: str, importer: str) -> list[str]:
        """The module and the packages around it, but for those that are being loaded because the importer is inside."""
        parts = target.split(".")
        around = [".".join(parts[:n]) for n in range(1, len(parts))]
        return [t for t in [*around, target] if t in self.known and (t == target or not importer.startswith(t + "."))]

    def place(self, name: str) -> tuple[int, str]:
        """Where a module stands: by the longest part of its name that ORDER has."""
        parts = name.split(".")[1:]
        for n in range(len(parts), 0, -1):
            if (part := ".".join(parts[:n])) in ORDER:
                return ORDER.index(part), part
        return -1, ""


def _at_load(body: list) -> Iterator[ast.Import | ast.ImportFrom]:
    """Import statements outside of functions and of what only type checkers read."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from _at_load(node.orelse)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for field in ("body", "orelse", "finalbody"):
                yield from _at_load(getattr(node, field, []))
            for handler in getattr(node, "handlers", []):
                yield from _at_load(handler.body)


def downward(modules: Modules) -> Iterator[str]:
    for name, imports in modules.imports.items():
        if name == modules.root:
            continue
        at, package = modules.place(name)
        if at < 0:
            yield f"{name}: its package is not in scripts/check_imports.py's ORDER"
        for target, line in imports.items():
            below, other = modules.place(target)
            if below > at >= 0:
                yield f"{name}:{line}: {package} imports {other}, which stands after it"


def circles(modules: Modules) -> Iterator[str]:
    """Each circle, but for those that share a module with one given before."""
    left = {name: set(imports) & modules.imports.keys() for name, imports in modules.imports.items()}
    while _take_leaves(left):
        path = [min(left)]
        while (following := min(left[path[-1]] & left.keys())) not in path:
            path.append(following)
        circle = path[path.index(following) :]
        yield "circle: " + " -> ".join([*circle, following])
        for name in circle:
            del left[name]


def _take_leaves(left: dict) -> dict:
    """Takes modules away that import nothing of what is left, again and again; what remains has circles."""
    while leaves := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in leaves:
            del left[name]
    return left


def main() -> int:
    modules = Modules(Path(__file__).resolve().parents[1] / "python" / "paddle")
    found = [*downward(modules), *circles(modules)]
    print("\n".join(found) if found else "imports: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
