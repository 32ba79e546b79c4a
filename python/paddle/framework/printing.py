"""How tensors are printed."""

from __future__ import annotations

import threading

import numpy as np

from ..base import core
from .io_utils import tensor_to_numpy


class _Options(threading.local):
    precision, threshold, edgeitems, linewidth, sci_mode = 8, 1000, 3, 80, False


options = _Options()


def set_printoptions(precision=None, threshold=None, edgeitems=None, sci_mode=None, linewidth=None) -> None:
    """Sets how tensors are printed; None leaves an option as it is.

    Args:
        precision: digits after the point (8 at first).
        threshold: tensors with more elements are summarised (1000).
        edgeitems: elements shown at each end of a summarised axis (3).
        sci_mode: scientific notation (False).
        linewidth: characters per line (80).
    """
    for name, value, kind in (
        ("precision", precision, int), ("threshold", threshold, int), ("edgeitems", edgeitems, int),
        ("sci_mode", sci_mode, bool), ("linewidth", linewidth, int),
    ):  # fmt: skip
        if value is not None:
            if not isinstance(value, kind):
                raise TypeError(f"[set_printoptions] {name} expected {kind.__name__}, got {type(value).__name__}")
            setattr(options, name, value)


def _format_float(value) -> str:
    value = float(value)
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return f"{value}."
    if options.sci_mode:
        return f"{value:.{options.precision}e}"
    if value.is_integer():
        return f"{value:.0f}."
    return f"{value:.{options.precision}f}"


def _format_element(value) -> str:
    if isinstance(value, np.bool_):
        return "True" if value else "False"
    if isinstance(value, np.complexfloating):
        plus = "+" if value.imag >= 0 else ""  # -0.0 is not below 0, so it follows a plus: as Paddle prints it
        return f"({value.real:.{options.precision}f}{plus}{value.imag:.{options.precision}f}j)"
    return _format_float(value) if isinstance(value, np.floating) else str(value)


def _edges(array, summary):
    """The indices of the first axis to show; None stands for the dots."""
    n, edge = len(array), options.edgeitems
    return [*range(edge), None, *range(n - edge, n)] if summary and n > 2 * edge else list(range(n))


def _shown(array, summary, out) -> None:
    if array.ndim == 0:
        out.append(_format_element(array[()]))
    else:
        for i in _edges(array, summary):
            if i is not None:
                _shown(array[i], summary, out)


def format_array(array, indent=0) -> str:
    """An array of any rank as nested brackets, elements padded to one width."""
    summary = array.size > options.threshold
    texts: list = []
    _shown(array, summary, texts)
    width = max(map(len, texts), default=0)
    signed = any(t.startswith("-") for t in texts)
    return _nested(array, summary, width, signed, indent)


def _pad(text, width, signed) -> str:
    """Left-aligned; beside negative numbers the others leave a column for the sign where it fits."""
    lead = " " if signed and not text.startswith("-") and len(text) < width else ""
    return (lead + text).ljust(width)


def _nested(array, summary, width, signed, indent) -> str:
    if array.ndim == 0:
        return _format_element(array[()])
    if array.ndim == 1:
        items = ["..." if i is None else _format_element(array[i]) for i in _edges(array, summary)]
        items = [t if t == "..." else _pad(t, width, signed) for t in items]
        return _wrap(items, width, indent)
    parts = [
        "..." if i is None else _nested(array[i], summary, width, signed, indent + 1) for i in _edges(array, summary)
    ]
    gap = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return "[" + gap.join(parts) + "]"


def _wrap(items, width, indent) -> str:
    per_line = max(1, (options.linewidth - indent) // max(1, width + 2))
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def tensor_to_string(tensor, prefix="Tensor") -> str:
    """The text of ``repr(tensor)``: shape, dtype, place, ``stop_gradient`` and the values."""
    name = str(tensor.dtype).rsplit(".", 1)[-1]
    indent = len(prefix) + 1
    if tensor.is_dist() and not tensor.process_mesh.contains(core.dist.rank()):
        values = "(this rank is outside the mesh)"
    else:
        shown = tensor.detach()
        array = shown.astype("float32").numpy() if name == "bfloat16" else tensor_to_numpy(shown)
        values = format_array(np.asarray(array), indent)
    place = tensor.place
    if tensor.is_dist():
        return (
            f"{prefix}(shape={list(tensor.shape)}, dtype={name}, place={place}, stop_gradient={tensor.stop_gradient}, "
            f"process_mesh={tensor.process_mesh}, placements={tensor.placements}, GlobalDenseTensor=\n{' ' * indent}{values})"
        )
    return (
        f"{prefix}(shape={list(tensor.shape)}, dtype={name}, place={place}, stop_gradient={tensor.stop_gradient},\n"
        f"{' ' * indent}{values})"
    )


def install() -> None:
    """Makes this the representation of tensors, where the extension has none of its own."""
    if core.Tensor.__repr__ is object.__repr__:
        core.Tensor.__repr__ = tensor_to_string
        core.Tensor.__str__ = tensor_to_string
