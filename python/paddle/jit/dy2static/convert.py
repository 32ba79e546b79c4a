"""Turn a function into its transformed form, and decide for every call in transformed code whether its callee needs that too."""

from __future__ import annotations

import ast
import builtins
import functools
import sys
import sysconfig
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

from . import eligibility, kept, source, transformer

NOT_TO_STATIC = "__jst_not_to_static__"

# Packages that never hold model code: their functions run as they are.
_LIBRARIES = {
    "paddle", "numpy", "scipy", "pandas", "matplotlib", "PIL", "cv2", "sklearn", "torch", "jax", "tqdm", "yaml", "einops",
    "typing_extensions", "pytest", "_pytest", "pluggy", "nanobind", "IPython", "packaging",
}  # fmt: skip
_ignored_modules: set[str] = set()
_STDLIB = tuple({sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["platstdlib"]})

_specials: dict[Any, Callable] = {}
_compiled: dict[types.CodeType, Callable | None] = {}
_generation = 0
_lock = threading.RLock()
log: Callable[[str, str], None] | None = None  # (function name, transformed source): set by jit.set_code_level

# Called with each (function, bound object) that becomes part of the running trace.
on_convert: list[Callable[[Callable, Any], None]] = []


def special(fn: Callable) -> Callable:
    """Register the decorated function as what transformed code calls instead of the builtin ``fn``."""

    def register(replacement):
        _specials[fn] = replacement
        return replacement

    return register


def ignore_module(modules) -> None:
    _ignored_modules.update(m.__name__ for m in modules)
    forget()


def forget() -> None:
    """Drop all converted functions: the rules changed."""
    global _generation
    _generation += 1
    _compiled.clear()


def is_library_module(name: str | None, filename: str | None = None) -> bool:
    if not name:
        return False
    root = name.split(".", 1)[0]
    if root in _LIBRARIES or root in sys.builtin_module_names:
        return True
    if root in sys.stdlib_module_names and root != "__main__":
        return True
    if filename and filename.startswith(_STDLIB) and "site-packages" not in filename:
        return True
    return bool(_ignored_modules) and any(name == m or name.startswith(m + ".") for m in _ignored_modules)


def _is_library_function(fn: types.FunctionType) -> bool:
    return is_library_module(fn.__module__ or fn.__globals__.get("__name__"), fn.__code__.co_filename)


# Library functions that call back into user code or must see lists of traced length.
_JOINERS = frozenset(["stack", "concat", "vstack", "hstack", "add_n"])
_NEVER_EVIDENT = _JOINERS | {"recompute"}


def _library_test(space: dict) -> Callable[[str], bool]:
    """Whether a dotted global name means a library's function now (``F.relu``), so that calls of it need no conversion."""

    def is_library(name: str) -> bool:
        root, *path = name.split(".")
        if root in space:
            obj = space[root]
        elif hasattr(builtins, root):
            obj = getattr(builtins, root)
        else:
            return False
        for part in path:
            if not isinstance(obj, types.ModuleType) or not is_library_module(obj.__name__):
                return False
            obj = getattr(obj, part, None)
        return (
            not isinstance(obj, types.ModuleType) and _runs_as_is(obj) and name.rsplit(".", 1)[-1] not in _NEVER_EVIDENT
        )

    return is_library


def _runs_as_is(obj: Any) -> bool:
    try:
        if obj in _specials:
            return obj is builtins.range
    except TypeError:
        return False
    if isinstance(obj, type):
        return is_library_module(obj.__module__)
    if isinstance(obj, types.FunctionType):
        return _is_library_function(obj)
    if isinstance(obj, types.BuiltinFunctionType):
        return True  # compiled: there is nothing to convert
    return (type(obj).__module__ or "").split(".")[0] == "numpy"


def load() -> None:
    """What transformed code needs, loaded where a function becomes static rather than at its first call."""
    from . import runtime, stand_ins  # noqa: F401

    kept.version()


def convert_call(fn: Any) -> Any:
    """What a call of ``fn`` in transformed code really calls."""
    try:
        replacement = _specials.get(fn)
    except TypeError:
        replacement = None
    if replacement is not None:
        return replacement
    cls = type(fn)
    if cls is types.FunctionType:
        return convert_function(fn)
    if cls is types.MethodType:
        inner = fn.__func__
        if type(inner) is not types.FunctionType:
            return fn
        converted = convert_function(inner, fn.__self__)
        return fn if converted is inner else types.MethodType(converted, fn.__self__)
    if cls is types.BuiltinFunctionType and fn.__name__ in ("format", "item"):
        from . import stand_ins

        return stand_ins.method(fn)
    if cls is types.BuiltinFunctionType or isinstance(fn, type) or fn is None:
        return fn
    if cls is functools.partial:
        inner = convert_call(fn.func)
        return fn if inner is fn.func else functools.partial(inner, *fn.args, **fn.keywords)
    if getattr(fn, "__name__", None) in _JOINERS and cls.__module__ == "paddle._core":
        return _library_wrapper(fn)  # an operator's entry point takes the place of a Python function
    inline = getattr(cls, "__jst_inline__", None)  # StaticFunction: traced into the program that calls it
    if inline is not None:
        return inline(fn)
    call = getattr(cls, "__call__", None)
    if type(call) is types.FunctionType and not _is_library_function(call):
        converted = convert_function(call, fn)
        return fn if converted is call else types.MethodType(converted, fn)
    return fn


def convert_function(fn: types.FunctionType, owner: Any = None) -> types.FunctionType:
    """The transformed function, or ``fn`` itself where there is nothing to transform."""
    if getattr(fn, NOT_TO_STATIC, False):
        return fn
    known = fn.__dict__.get(_CONVERTED)
    # functools.wraps copies attributes to other functions: the entry says whose it is.
    if known is not None and known[0]() is fn and known[1] == _generation:
        converted = known[2]
    elif _is_library_function(fn):
        return _library_wrapper(fn)
    else:
        with _lock:
            converted = _convert(fn)
        # Kept on the function, since a closure may refer to itself: so both go away together.
        fn.__dict__[_CONVERTED] = (weakref.ref(fn), _generation, None if converted is fn else converted)
    for notify in on_convert:
        notify(fn, owner)
    return fn if converted is None else converted


def library_loop(fn: types.FunctionType) -> types.FunctionType:
    """A function of the library itself in its transformed form: its loop over a size that is open becomes an operator."""
    from . import runtime  # noqa: F401

    with _lock:
        return _convert(fn)


_CONVERTED = "__jst_converted__"


def _library_wrapper(fn: types.FunctionType) -> Callable:
    name = fn.__name__
    if name in _JOINERS and (fn.__module__ or "").startswith("paddle"):
        from . import stand_ins

        return stand_ins.JOINERS[name](fn)
    if name == "recompute":
        return lambda function, *args, **kwargs: fn(convert_call(function), *args, **kwargs)
    return fn


def _convert(fn: types.FunctionType) -> types.FunctionType:
    code = fn.__code__
    if code not in _compiled:
        _compiled[code] = _compile(fn)
    build = _compiled[code]
    return fn if build is None else build(fn)


def transformed_tree(fn: types.FunctionType, is_library: Callable[[str], bool] | None = None) -> ast.AST | None:
    """The transformed syntax tree of ``fn``; None where it runs as it is."""
    from . import stand_ins  # noqa: F401  (registers the builtins that need one)

    code = fn.__code__
    if code.co_flags & 0x280:  # coroutine, async generator
        return None
    found = source.find(code, fn.__globals__)
    if found is None:
        return None
    node = found.node
    freevars = set(code.co_freevars)
    is_library = is_library or _library_test(fn.__globals__)
    if eligibility.untransformable(node) or not eligibility.worth_transforming(node, freevars, is_library):
        return None
    if isinstance(node, ast.Lambda) and any(isinstance(n, ast.NamedExpr) for n in ast.walk(node)):
        return None
    return transformer.transform(node, found.class_name, freevars, is_library)


def transformed_source(fn: types.FunctionType) -> str | None:
    tree = transformed_tree(fn)
    return None if tree is None else ast.unparse(ast.fix_missing_locations(tree))


def _compile(fn: types.FunctionType) -> Callable | None:
    """A function that builds the transformed form of any function with ``fn``'s code (each has its own closure)."""
    from . import stand_ins  # noqa: F401  (as above: what a name means depends on it)

    is_library = _library_test(fn.__globals__)
    known = kept.find(fn.__code__, is_library) if log is None else None
    if known is not None:
        inner = known[0]
    else:
        answers: dict[str, bool] = {}

        def noted(name: str) -> bool:
            answers[name] = is_library(name)
            return answers[name]

        inner = _transformed_code(fn, noted)
        if source.is_compiled_from_file(fn.__code__, fn.__globals__):
            kept.keep(fn.__code__, answers, inner)
    return None if inner is None else functools.partial(_build, inner)


def _transformed_code(fn: types.FunctionType, is_library: Callable[[str], bool]) -> types.CodeType | None:
    tree = transformed_tree(fn, is_library)
    if tree is None:
        return None
    code = fn.__code__
    module = transformer.factory(tree, code.co_freevars)
    if log is not None:
        log(fn.__qualname__, ast.unparse(tree))
    compiled = compile(module, code.co_filename, "exec", dont_inherit=True, flags=code.co_flags & _FUTURE)
    outer = next(c for c in compiled.co_consts if isinstance(c, types.CodeType))
    inner = next(
        c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name in (transformer.FUNCTION, "<lambda>")
    )
    return _rename(inner, code.co_name, getattr(code, "co_qualname", code.co_name))


_FUTURE = 0x1000000  # from __future__ import annotations


def _rename(code: types.CodeType, name: str, qualname: str) -> types.CodeType:
    """Generated parts appear in tracebacks under the name of the function they were cut from."""
    consts = tuple(
        _rename(c, name, qualname) if isinstance(c, types.CodeType) and c.co_name.startswith("_jst_") else c
        for c in code.co_consts
    )
    return code.replace(co_name=name, co_qualname=qualname, co_consts=consts)


def _build(code: types.CodeType, fn: types.FunctionType) -> types.FunctionType:
    from . import runtime

    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
    cells[transformer.JST] = types.CellType(runtime)
    closure = tuple([cells[n] for n in code.co_freevars])
    out = types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, closure)
    out.__kwdefaults__ = fn.__kwdefaults__
    out.__qualname__, out.__doc__, out.__module__ = fn.__qualname__, fn.__doc__, fn.__module__
    out.__dict__.update({k: v for k, v in fn.__dict__.items() if k != _CONVERTED})
    return out
