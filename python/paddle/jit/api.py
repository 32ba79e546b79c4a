"""``paddle.jit``'s functions: to_static and its switches, saving and loading."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

from . import _trace_api as trace
from ._state import switches
from .dy2static import convert
from .formats import check_format
from .report import Report
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


def save(layer, path: str, input_spec=None, **configs) -> None:
    """Write a Layer or static function as ``path.json`` (program) and ``path.pdiparams`` (parameters).

    Args:
        layer: a Layer (all its static methods are written; ``forward`` is made static if need be) or a function.
        path: a prefix; folders are created.
        input_spec: InputSpecs, tensors or values for ``forward``'s arguments. Default: those of ``to_static`` or of the last call.
        skip_forward (bool): write the other static methods only. ``clip_extra``, ``skip_prune_program`` and
            ``keep_name_table`` change nothing: programs hold what they compute, no more.

    Raises:
        ValueError: no ``input_spec`` and the function hasn't been called; the path is empty.
        NotImplementedError: an option of official Paddle's asks for what isn't written: ``output_spec``, ``with_hook``,
            ``input_names_after_prune``, ``separate_params``, ``use_dist``, ``combine_params`` with several methods,
            ``FLAGS_json_format_model=0`` (a protobuf ``.pdmodel``).
    """
    if not callable(layer):
        raise TypeError(f"[jit.save] expected a Layer or a function, got {type(layer).__name__}")
    if not isinstance(path, str) or not path or path.endswith("/"):
        raise ValueError(f"[jit.save] expected a file prefix, got {path!r}")
    known = {
        "output_spec", "with_hook", "combine_params", "clip_extra", "skip_forward", "skip_prune_program",
        "input_names_after_prune", "use_dist", "keep_name_table", "separate_params",
    }  # fmt: skip
    unknown = sorted(set(configs) - known)
    if unknown:
        raise ValueError(f"[jit.save] unknown option '{unknown[0]}'; known are {sorted(known)}")
    check_format("jit.save", configs)
    programs = {}
    for name, fn in _methods_to_save(layer, configs).items():
        spec = input_spec if name == "forward" or not isinstance(layer, trace.layer_class()) else None
        programs[name] = (fn.concrete_program_specify_input_spec(_as_specs(spec)), layer)
    if configs.get("combine_params") and len(programs) > 1:
        raise NotImplementedError(
            f"[jit.save] combine_params asks for one file of the parameters of {sorted(programs)}: each has its own"
        )
    if not programs:
        raise ValueError("[jit.save] nothing to save: the layer has no static method and skip_forward is set")
    trace.save(path, programs, configs)


def _methods_to_save(layer, configs: dict) -> dict[str, StaticFunction]:
    if not isinstance(layer, trace.layer_class()):
        if isinstance(layer, StaticFunction):
            return {"forward": layer}
        return {"forward": StaticFunction(layer, full_graph=True)}
    out = {}
    for name in dir(type(layer)):
        found = inspect.getattr_static(type(layer), name, None)
        if isinstance(found, StaticFunction) and not found.is_property:
            out[name] = getattr(layer, name)
    forward = layer.forward
    if not configs.get("skip_forward", False):
        out["forward"] = forward if isinstance(forward, StaticFunction) else _one_off(layer, forward)
    return out


def _one_off(layer, forward) -> StaticFunction:
    """A static ``forward`` for saving; the layer itself stays as it is."""
    return StaticFunction(forward.__func__, full_graph=True, instance=layer)


def _as_specs(spec):
    if spec is None:
        return None
    if not isinstance(spec, (list, tuple)):
        raise TypeError(f"The type(input_spec) should be one of (tuple, list), but received {type(spec).__name__}.")
    return list(spec)


def load(path: str, **configs) -> TranslatedLayer:
    """Read what :func:`save` or ``paddle.static.save_inference_model`` wrote; the result is a Layer that can be run and fine-tuned.

    Args:
        path: the prefix given to ``save``.
        model_filename, params_filename (str): other file names in the folder ``path``.
    """
    if not isinstance(path, str) or not path:
        raise ValueError(f"[jit.load] expected a file prefix, got {path!r}")
    unknown = sorted(set(configs) - {"model_filename", "params_filename", "keep_name_table", "use_dist"})
    if unknown:
        raise ValueError(f"[jit.load] unknown option '{unknown[0]}'")
    return TranslatedLayer._from_loaded(trace.load(path, configs))
