"""``Block.append_op``: operators of a program by their names."""

from __future__ import annotations

import difflib
import inspect
import re

from .._core import _ops
from ..base import core
from ..jit import _trace_api as api

# What programs of Paddle say of an operation besides its operator's own attributes.
_OF_PROGRAMS = frozenset(["op_role", "op_role_var", "op_namescope", "op_device", "op_callstack", "with_quant_attr"])


def append_op(block, type, inputs=None, outputs=None, attrs=None):
    """Appends the operator ``type`` to the program that is being built.

    Args:
        type: its name, as in ``paddle._C_ops``.
        inputs (dict): variables (or lists of them) by the operator's argument names; case doesn't count.
        outputs (dict): variables that mean the results from here on, in the order of the results.
        attrs (dict): the other arguments.

    Returns:
        The operation.

    Raises:
        NotImplementedError: there is no such operator.
        ValueError: an argument that it doesn't have, more outputs than results, or another program than the one being built.
    """
    from .program import default_main_program

    function = _ops.get(type)
    if function is None:
        near = difflib.get_close_matches(str(type), list(_ops), 1)
        raise NotImplementedError(
            f"[append_op] no operator '{type}'" + (f"; did you mean '{near[0]}'?" if near else "")
        )
    if not api.tracing() or block.program is not default_main_program():
        raise ValueError(f"[{type}] append_op goes to the program that is being built: call it under program_guard")
    names = _argument_names(function)
    arguments = {}
    for slot, value in (inputs or {}).items():
        name = _argument(type, slot, names)
        arguments[name] = (
            value if _takes_list(function, name) or not isinstance(value, (list, tuple)) else _one(type, slot, value)
        )
    for slot, value in (attrs or {}).items():
        if slot not in _OF_PROGRAMS:
            arguments[_argument(type, slot, names)] = value
    results = function(**arguments)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    targets = [v for out in (outputs or {}).values() for v in (out if isinstance(out, (list, tuple)) else [out])]
    if len(targets) > len(results):
        raise ValueError(f"[{type}] expected at most {len(results)} outputs, got {len(targets)}")
    for target, result in zip(targets, results):
        api.rebind(target, result)
    return next(op for op in reversed(block.ops) if op.name() == f"pd_op.{type}")


def _argument_names(function) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY and p.name != "name"]


def _argument(type, slot, names: list[str]) -> str:
    for name in names:
        if slot in (name, name.capitalize(), name.upper()) or slot.lower() == name.lower():
            return name
    raise ValueError(f"[{type}] expected arguments {names}, got '{slot}'")


def _takes_list(function, name: str) -> bool:
    return re.search(rf"^ +{name}( or \w+)* \((optional )?Sequence\[Tensor", function.__doc__ or "", re.M) is not None


def _one(type, slot, value):
    if len(value) != 1 or not isinstance(value[0], core.Tensor):
        raise ValueError(f"[{type}] expected one variable for '{slot}', got {len(value)}")
    return value[0]
