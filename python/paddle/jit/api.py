"""``paddle.jit``'s functions: to_static and its switches, saving and loading."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

from . import _trace_api as trace
from ._state import switches
from .dy2static import convert
from .formats import refuse_paddle_2
from .report import Report
from .saving import save
from .static_function import StaticFunction
from .translated_layer import TranslatedLayer

__all__ = ["enable_to_static", "ignore_module", "load", "not_to_static", "report", "save", "to_static"]


def to_static(function=None, input_spec=None, build_strategy=None, backend="CINN", **kwargs):
    """Compile a function or Layer: its Python control flow on tensors becomes part of one program, cached by the types of its inputs.

    Args:
        function: a function, a method, or a Layer (its ``forward`` is replaced and the Layer returned). None: a decorator.
        input_spec: InputSpecs of the leading arguments. Sizes None are symbolic from the first call. Without it the first call's
            sizes are static, and a size that differs at a later call becomes symbolic.
        build_strategy: a ``paddle.static.BuildStrategy``.
        backend: ``"CINN"`` compiles fused kernels, None runs the program operator by operator.
        full_graph (bool): a place that can't be captured is an error that names the line. Default False (True with an
            ``input_spec``): what was captured so far runs as a compiled segment, Python goes on from there, and :func:`report` says
            where and why.
        property (bool): the function is a property's getter.

    Raises:
        TypeError: ``function`` can't be called, or ``input_spec`` isn't a list or tuple.
    """
    options = {"input_spec": input_spec, "build_strategy": build_strategy, "backend": _checked_backend(backend)}
    options["full_graph"] = kwargs.pop("full_graph", None)
    options["property"] = bool(kwargs.pop("property", False))
    if kwargs:
        raise TypeError(f"to_static() got an unexpected keyword argument '{next(iter(kwargs))}'")

    def decorate(target):
        if isinstance(target, trace.layer_class()):
            return _static_layer(target, options)
        return _static_callable(target, options)

    if function is None:
        return decorate
    return decorate(function)


def _checked_backend(backend):
    if backend is None or (isinstance(backend, str) and backend.upper() == "CINN"):
        return backend and backend.upper()
    raise ValueError(f"[to_static] expected backend 'CINN' or None, got {backend!r}")


def _static_layer(layer, options: dict):
    forward = layer.forward
    if isinstance(forward, StaticFunction):
        forward = forward.dygraph_function
    if not inspect.ismethod(forward):  # replaced on the instance by a plain function
        layer.__dict__["forward"] = StaticFunction(forward, **options)
        return layer
    layer.__dict__["forward"] = StaticFunction(forward.__func__, **options, instance=_weak(forward.__self__))
    return layer


def _static_callable(target, options: dict):
    if isinstance(target, StaticFunction):
        owner = target.class_instance
        return StaticFunction(target._function, **options, instance=_weak(owner) if owner is not None else None)
    if isinstance(target, (staticmethod, classmethod)):
        return type(target)(StaticFunction(target.__func__, **options))
    if inspect.ismethod(target) and isinstance(target.__func__, types.FunctionType):
        made = StaticFunction(target.__func__, **options, instance=target.__self__)
        return made
    if isinstance(target, types.FunctionType):
        return StaticFunction(target, **options)
    if callable(target) and isinstance(getattr(type(target), "__call__", None), types.FunctionType):
        return StaticFunction(type(target).__call__, **options, instance=target)
    raise TypeError(f"to_static expects a function, a method or a Layer, got {type(target).__name__}")


def _weak(instance):
    from .static_function import _weak as weak

    return weak(instance)


def not_to_static(func: Callable | None = None):
    """Mark ``func``: code that ``to_static`` transforms calls it as it is, without transforming it."""
    if func is None:
        return not_to_static
    target = func.__func__ if inspect.ismethod(func) else func
    setattr(target, convert.NOT_TO_STATIC, True)
    return func


def ignore_module(modules: list) -> None:
    """Functions of these modules (and modules below them) run as they are when transformed code calls them."""
    if isinstance(modules, types.ModuleType):
        modules = [modules]
    convert.ignore_module(modules)


def enable_to_static(enable_to_static_bool: bool) -> None:
    """False: static functions run as plain Python, for debugging."""
    if not isinstance(enable_to_static_bool, (bool, int)):
        raise TypeError(f"[enable_to_static] expected a bool, got {type(enable_to_static_bool).__name__}")
    switches.enabled = bool(enable_to_static_bool)


def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """How much the transformation logs: 0 nothing, 1 each function it transforms, and beyond that also its source."""
    _check_level(level, "level")
    switches.verbosity = level
    _set_log(also_to_stdout)


def set_code_level(level: int = 100, also_to_stdout: bool = False) -> None:
    """Log the transformed source of functions as they are transformed. There is one level of transformation, so any level > 0 does."""
    _check_level(level, "level")
    switches.code_level = level
    _set_log(also_to_stdout)


def _check_level(level, name: str) -> None:
    if not isinstance(level, int) or isinstance(level, bool):
        raise TypeError(f"[jit] expected an int for {name}, got {type(level).__name__}")


def _set_log(also_to_stdout: bool) -> None:
    if not switches.verbosity and not switches.code_level:
        convert.log = None
        return

    def log(name: str, text: str) -> None:
        import logging
        import sys

        shown = f"transformed {name}"
        if switches.code_level or switches.verbosity > 1:
            shown += "\n" + text
        logging.getLogger("paddle.jit").warning(shown)
        if also_to_stdout:
            print(shown, file=sys.stdout)

    convert.log = log


def report(fn: Any) -> Report:
    """What ``to_static`` did for ``fn`` (a static function, or a Layer made static): each trace, why it was traced again, what runs
    eagerly and at which line. An addition of ours; ``print`` it."""
    target = fn.forward if isinstance(fn, trace.layer_class()) else fn
    if not isinstance(target, StaticFunction):
        raise TypeError(f"[report] expected a static function or Layer, got {type(fn).__name__}")
    return target.report()


def load(path: str, **configs) -> TranslatedLayer:
    """Read what :func:`save` or ``paddle.static.save_inference_model`` wrote; the result is a Layer that can be run and fine-tuned.

    Args:
        path: the prefix given to ``save``.
        model_filename, params_filename (str): other file names in the folder ``path``.

    Raises:
        ValueError: there is no such program, it is one of Paddle 2, or its bytes are damaged.
        NotImplementedError: its version, or an operation in it, isn't known here.
    """
    if not isinstance(path, str) or not path:
        raise ValueError(f"[jit.load] expected a file prefix, got {path!r}")
    unknown = sorted(set(configs) - {"model_filename", "params_filename", "keep_name_table", "use_dist"})
    if unknown:
        raise ValueError(f"[jit.load] unknown option '{unknown[0]}'")
    refuse_paddle_2("jit.load", path)
    return TranslatedLayer._from_loaded(trace.load(path, configs))
