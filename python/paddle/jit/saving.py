"""``paddle.jit.save``: what of a Layer or function goes to files, and in which form."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from typing import Any

from . import _trace_api as trace
from .arguments import positional_names
from .capture import HOLE, ConcreteProgram
from .formats import check_format
from .static_function import StaticFunction
from .structure import LEAF

_OPTIONS = {
    "output_spec", "with_hook", "combine_params", "clip_extra", "skip_forward", "skip_prune_program",
    "input_names_after_prune", "use_dist", "keep_name_table", "separate_params",
}  # fmt: skip


def save(layer, path: str, input_spec=None, **configs) -> None:
    """Write a Layer or static function as ``path.json`` (program) and ``path.pdiparams`` (parameters).

    Results in dicts are saved in the order of their sorted keys.

    Args:
        layer: a Layer (all its static methods are written; ``forward`` is made static if need be) or a function.
        path: a prefix; folders are created.
        input_spec: InputSpecs, tensors or values for ``forward``'s arguments, nested as they are. Default: those of ``to_static``
            or of the last call.
        output_spec (list): the results of ``forward`` to keep, in this order: positions among the tensors of its result, or
            items of ``layer.forward.outputs``. Inputs that they don't follow from are left out.
        input_names_after_prune (list): inputs that stay all the same.
        skip_prune_program (bool): all inputs stay.
        with_hook (bool): the layer's own forward hooks are part of the program.
        skip_forward (bool): only the other static methods are written.
        clip_extra, keep_name_table: change nothing, since programs hold what they compute, no more.

    Raises:
        ValueError: no ``input_spec`` and the function hasn't been called; the path is empty; ``output_spec`` names no result.
        TypeError: ``output_spec`` is no list, or holds something else.
        RuntimeError: ``output_spec`` together with ``with_hook``.
        NotImplementedError: what isn't written is asked for: ``separate_params``, ``use_dist``, ``combine_params`` with several methods,
            ``FLAGS_json_format_model=0`` (a protobuf ``.pdmodel``).
    """
    if not callable(layer):
        raise TypeError(f"[jit.save] expected a Layer or a function, got {type(layer).__name__}")
    if not isinstance(path, str) or not path or path.endswith("/"):
        raise ValueError(f"[jit.save] expected a file prefix, got {path!r}")
    unknown = sorted(set(configs) - _OPTIONS)
    if unknown:
        raise ValueError(f"[jit.save] unknown option '{unknown[0]}'; known are {sorted(_OPTIONS)}")
    check_format("jit.save", configs)
    chosen = configs.get("output_spec")
    if chosen is not None and configs.get("with_hook"):
        raise RuntimeError("[jit.save] output_spec can't be given together with with_hook")
    programs = {}
    for name, fn in _methods_to_save(layer, configs).items():
        is_forward = name == "forward" or not isinstance(layer, trace.layer_class())
        entry = fn.concrete_program_specify_input_spec(_as_specs(input_spec if is_forward else None))
        order, kept = _outputs(entry), None
        if is_forward and chosen is not None:
            order = _chosen(chosen, order, entry)
            kept = None if configs.get("skip_prune_program") else _names(configs.get("input_names_after_prune"), entry)
        programs[name] = (entry, layer, order, kept)
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
    for name in dir(layer):
        found = inspect.getattr_static(layer, name, None)
        if isinstance(found, StaticFunction) and not found.is_property and name != "forward":
            out[name] = getattr(layer, name)
    if not configs.get("skip_forward", False):
        out["forward"] = _forward(layer, bool(configs.get("with_hook")))
    return out


def _forward(layer, with_hook: bool) -> StaticFunction:
    """A static ``forward`` for saving; the layer itself stays as it is."""
    forward = layer.forward
    if with_hook:
        original = forward.dygraph_function if isinstance(forward, StaticFunction) else forward
        spec = forward.function_spec if isinstance(forward, StaticFunction) else None
        made = StaticFunction(type(layer).__call__, spec, full_graph=True, instance=layer)
        names = positional_names(getattr(original, "__func__", original), bound=inspect.ismethod(original))
        made._parameters, made._arity, made._fewest = names, len(names), len(names)
        return made
    if isinstance(forward, StaticFunction):
        return forward
    return StaticFunction(getattr(forward, "__func__", forward), full_graph=True, instance=layer)


def _as_specs(spec):
    if spec is None:
        return None
    if not isinstance(spec, (list, tuple)):
        raise TypeError(f"The type(input_spec) should be one of (tuple, list), but received {type(spec).__name__}.")
    return list(spec)


def _outputs(entry: ConcreteProgram) -> list[int]:
    """The program's outputs that are the function's result, those in dicts by sorted keys."""
    number, numbers = 0, []
    for v in entry.template:
        numbers.append(number if v is HOLE else None)
        number += v is HOLE
    return [numbers[k] for k in _in_order(entry.out_structure, 0)[0] if numbers[k] is not None]


def _in_order(structure: Any, start: int) -> tuple[list[int], int]:
    """Positions of the leaves in saved order, and the position after them."""
    if structure == LEAF:
        return [start], start + 1
    cls, extra, children = structure
    parts = []
    for c in children:
        part, start = _in_order(c, start)
        parts.append(part)
    if cls in (dict, OrderedDict):
        try:
            parts = [p for _, p in sorted(zip(extra, parts), key=lambda item: item[0])]
        except TypeError:
            pass  # keys of several types have no order
    return [k for p in parts for k in p], start


def _chosen(spec, order: list[int], entry: ConcreteProgram) -> list[int]:
    if not isinstance(spec, (list, tuple)):
        raise TypeError(f"[jit.save] expected output_spec to be a list, got {type(spec).__name__}")
    names = entry.outputs
    out = []
    for item in spec:
        if isinstance(item, int) and not isinstance(item, bool):
            if not -len(order) <= item < len(order):
                raise ValueError(f"[jit.save] expected positions in output_spec below {len(order)}, got {item}")
            out.append(order[item])
        elif isinstance(item, str):
            if item not in names or names.index(item) not in order:
                raise ValueError(f"[jit.save] output_spec names '{item}', which is none of the results {names}")
            out.append(names.index(item))
        else:
            raise TypeError(
                "[jit.save] expected output_spec to hold positions of results or items of layer.forward.outputs, "
                f"got {type(item).__name__}"
            )
    if not out:
        raise ValueError("[jit.save] output_spec is empty")
    return out


def _names(kept, entry: ConcreteProgram) -> list[str]:
    kept = [] if kept is None else list(kept)
    missing = [n for n in kept if n not in entry.inputs]
    if missing:
        raise ValueError(
            f"[jit.save] input_names_after_prune names '{missing[0]}', which is none of the inputs {entry.inputs}"
        )
    return kept
