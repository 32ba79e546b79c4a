"""Reads ops/scalar.yaml: the functions of the scalar language, and writes the two tables that C++ reads.

    python tools/opgen/scalar.py --root DIR --out DIR

writes OUT/base/scalar_fns.inc (an X-macro line per function, for base/scalar.h) and OUT/base/scalar_info.inc (the rows of
FnInfo, for base/scalar.cc). A file is rewritten only when its text changed.
"""

from __future__ import annotations

import argparse
import functools
from dataclasses import dataclass
from pathlib import Path

import yaml

TYPES = ("float", "int", "complex")
FIELDS = {"name", "arity", "boolean", "types", "c", "derivative", "numpy"}


class ScalarError(Exception):
    """A record of ops/scalar.yaml is wrong; the message starts with file and line."""


@dataclass(frozen=True)
class Fn:
    """One function: see the head of ops/scalar.yaml for the fields."""

    name: str
    arity: int
    boolean: bool
    types: tuple[str, ...]
    c: str
    derivative: tuple[str | None, ...]
    numpy: str


def write_if_changed(path: Path, text: str) -> bool:
    """Writes text to path unless it is there already, so that ninja rebuilds only what changed."""
    if path.exists() and path.read_text() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return True


def _function(node: yaml.MappingNode, path: Path) -> Fn:
    def wrong(message: str) -> ScalarError:
        return ScalarError(f"{path}:{node.start_mark.line + 1}: {message}")

    record = yaml.SafeLoader("").construct_document(node)
    name = record.get("name", "?")
    if unknown := record.keys() - FIELDS:
        raise wrong(f"{name}: unknown fields {sorted(unknown)}")
    if missing := FIELDS - {"boolean"} - record.keys():
        raise wrong(f"{name}: missing fields {sorted(missing)}")
    arity, derivative, types = record["arity"], record["derivative"], record["types"]
    if arity not in range(4):
        raise wrong(f"{name}: arity must be 0 to 3, got {arity}")
    if len(derivative) != arity:
        raise wrong(f"{name}: expected {arity} derivatives, got {len(derivative)}")
    if not types or set(types) - set(TYPES):
        raise wrong(f"{name}: types must be some of {TYPES}, got {types}")
    partials = tuple(None if d == "none" else str(d) for d in derivative)
    return Fn(name, arity, bool(record.get("boolean", False)), tuple(types), record["c"], partials, record["numpy"])


def load(root: Path) -> dict[str, Fn]:
    """The functions in the order of the file, by name."""
    path = Path(root) / "ops" / "scalar.yaml"
    return _load(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=4)
def _load(path: Path, _mtime: int) -> dict[str, Fn]:
    document = yaml.compose(path.read_text(), Loader=yaml.SafeLoader)
    functions: dict[str, Fn] = {}
    for node in document.value:
        fn = _function(node, path)
        if fn.name in functions:
            raise ScalarError(f"{path}:{node.start_mark.line + 1}: {fn.name} is defined twice")
        functions[fn.name] = fn
    return functions


def generate(root: Path, out: Path) -> list[Path]:
    """Writes both tables under out; returns the paths of the files it is responsible for."""
    functions = load(root).values()
    head = "// Generated from ops/scalar.yaml by tools/opgen/scalar.py.\n"
    names = head + "".join(f"PD_SCALAR_FN({f.name}, {f.arity})\n" for f in functions)
    rows = head + "".join(f'{{"{f.name}", {f.arity}, {str(f.boolean).lower()}, "{f.c}"}},\n' for f in functions)
    targets = {Path(out) / "base" / "scalar_fns.inc": names, Path(out) / "base" / "scalar_info.inc": rows}
    for path, text in targets.items():
        write_if_changed(path, text)
    return list(targets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], help="the source tree")
    parser.add_argument("--out", type=Path, required=True, help="the folder for generated files")
    args = parser.parse_args()
    generate(args.root, args.out)


if __name__ == "__main__":
    main()
