"""Why a function was traced again, for its report."""

from __future__ import annotations

import traceback
from collections.abc import Callable

from .cache import Family
from .dy2static import convert
from .structure import leaf_paths


def nearest(families, new, names: Callable[[tuple], list[str]]) -> list[str]:
    """How the key of a new family differs from that of the nearest known one."""
    best: list[str] | None = None
    for known in families:
        diff = _difference(known, new, names)
        if best is None or len(diff) < len(best):
            best = diff
    return best or []


def _difference(old, new, names) -> list[str]:
    out = []
    if old[0] != new[0]:
        return ["the arguments' structure changed", *(["state changed"] if old[2] != new[2] else [])]
    for i, (a, b) in enumerate(zip(old[1], new[1])):
        if a == b:
            continue
        known = names(new[0])
        name = known[i] if i < len(known) else f"input {i}"
        if len(a) == 3 and len(b) == 3:
            for label, x, y in zip(("dtype", "rank", "stop_gradient"), a, b):
                if x != y:
                    out.append(f"{label} of {name} was {x}, now {y}")
        elif len(a) == len(b) == 2:
            out.append(f"argument {name} was {a[1]!r}, now {b[1]!r}")
        else:
            out.append(f"argument {name} changed between Tensor and Python value")
    if old[2] != new[2]:
        out.append(f"mode, AMP, default dtype, device or flags changed: {old[2]} -> {new[2]}")
    if old[3] != new[3]:
        out.append("training changed" if new[3] else "training changed to evaluation")
    return out


def why_again(family: Family, pattern, shapes) -> list[str]:
    """Which assumptions of the family's programs for these sizes fail."""
    out = []
    for entry in family.programs.get(pattern, ()):
        out += entry.guards.failures()
        if not entry.runner.accepts(shapes):
            out.append(f"sizes {[list(s) for s in shapes]} break an assumption on sizes of an earlier program")
    return list(dict.fromkeys(out))


def leaf_names(structure, parameters: list[str], state: list[str]) -> list[str]:
    """A name for each leaf of the arguments, and of the attributes ``state`` that are inputs too."""
    state_parts: list = []
    while isinstance(structure, tuple) and len(structure) == 2:
        state_parts.insert(0, structure[1])
        structure = structure[0]
    (_, _, positional), by_name = structure[2]
    out: list[str] = []
    for i, c in enumerate(positional):
        out += leaf_paths(c, parameters[i] if i < len(parameters) else f"args[{i}]")
    for name, c in zip(by_name[1], by_name[2]):
        out += leaf_paths(c, name)
    for name, s in zip(state, state_parts):
        out += leaf_paths(s, f"self.{name}")
    return out


def user_line(error: BaseException) -> str:
    """``file:line`` of the innermost frame in ``error``'s traceback that isn't a library's."""
    found = "<unknown>"
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if not convert.is_library_module(frame.f_globals.get("__name__"), code.co_filename):
            found = f"{code.co_filename}:{line}"
    return found
