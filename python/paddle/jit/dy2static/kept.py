"""Transformed code on disk, so that a second process need not read source, analyse it and compile it again.

What a function transforms to follows from its code object (which knows the source's lines, columns and names), from what the
dotted names in it mean, and from the version of Python and of this package. The first and the last are the key; the answers about
names are kept beside the code and asked again. The core keeps the entries (``FLAGS_compile_cache_dir``) and gives them back
whole or not at all.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import marshal
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType

from .. import _trace_api as api
from . import source


@functools.cache
def version() -> bytes | None:
    """Everything beside the function itself; None where this package has no files to tell its version by."""
    digest = hashlib.blake2b(f"{sys.version} {sys.flags.optimize}".encode(), digest_size=16)
    try:
        here = Path(__file__).parent
        for path in [here.with_name("guards.py"), *sorted(here.glob("*.py"))]:
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    except OSError:
        return None
    return digest.digest()


def _key(code: CodeType, what: str = "transformed") -> bytes | None:
    known = version()
    # Format 2 says the same in every process: later ones tell which objects are shared.
    return known and what.encode() + b" " + known + marshal.dumps(code, 2)


def find(code: CodeType, is_library: Callable[[str], bool]) -> tuple[CodeType | None] | None:
    """The transformed code in a tuple (None there: it runs as it is); None where there is no entry that holds today."""
    key = _key(code)
    entry = key and api.kept_bytes(key)
    if not entry:
        return None
    try:
        answers, transformed = marshal.loads(entry)
        whole = transformed is None or isinstance(transformed, CodeType)
        if whole and all(is_library(name) == answer for name, answer in answers):
            return (transformed,)
    except (ValueError, EOFError, TypeError, AttributeError):
        pass
    return None


def names(what: str, fn: FunctionType, compute: Callable[[ast.AST], set[str]]) -> list[str]:
    """The names that ``compute`` finds in the function's tree, in order; none where it has no source."""
    code = fn.__code__
    key = _key(code, what)
    entry = key and api.kept_bytes(key)
    if entry:
        try:
            known = marshal.loads(entry)
            if type(known) is list and all(type(n) is str for n in known):
                return known
        except (ValueError, EOFError, TypeError):
            pass
    found = source.find(code, fn.__globals__)
    if found is None:
        return []
    made = sorted(compute(found.node))
    if key and source.is_compiled_from_file(code, fn.__globals__):
        api.keep_bytes(key, marshal.dumps(made))
    return made


def keep(code: CodeType, answers: dict[str, bool], transformed: CodeType | None) -> None:
    key = _key(code)
    if key:
        api.keep_bytes(key, marshal.dumps((sorted(answers.items()), transformed)))
