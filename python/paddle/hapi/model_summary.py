"""A table of a network's layers: shapes, numbers of parameters, memory."""

from __future__ import annotations

import math
import numbers

import paddle
from paddle import nn

from ..nn.layer.rnn import RNNBase
from ..static.input_spec import InputSpec

__all__ = []

_MEGABYTE = 1024.0**2
_WIDTHS = (15, 20, 20, 15)


def summary(net, input_size=None, dtypes=None, input=None) -> dict:
    """Runs the network once, in evaluation mode, and prints a table of its layers.

    Args:
        net (nn.Layer): the network.
        input_size (tuple | InputSpec | list, optional): the shape of the input, a list for several; the batch size may be None
            or -1, which counts as 1.
        dtypes (str | list, optional): of the inputs; float32 by default.
        input (Tensor | list | tuple | dict, optional): what ``net`` is called with, as its one argument, instead of random
            tensors of `input_size`.

    Returns:
        dict: "total_params" and "trainable_params", the numbers of elements.

    Raises:
        ValueError: neither `input_size` nor `input`, a size that isn't positive, more than one unknown size.
        AssertionError: an item of `input_size` is neither a tuple nor an InputSpec.
    """
    sizes = _sizes(input_size, input)
    training = net.training
    net.eval()
    try:
        rows = _run(net, sizes, dtypes, input)
    finally:
        if training:
            net.train()
    total, trainable = sum(r["params"] for r in rows.values()), sum(r["trainable"] for r in rows.values())
    print(_table(rows) + _memory(rows, sizes, total, trainable))
    return {"total_params": total, "trainable_params": trainable}


# ---- inputs
def _sizes(input_size, input):
    """A shape, or a nest of shapes, without unknown sizes."""
    if input_size is None:
        if input is None:
            raise ValueError("input_size and input cannot be None at the same time")
        if isinstance(input, paddle.Tensor):
            input_size = tuple(input.shape)
        elif isinstance(input, (list, tuple, dict)):
            input_size = [tuple(t.shape) for t in (input.values() if isinstance(input, dict) else input)]
        else:
            raise ValueError(
                "Input is not tensor, list, tuple and dict, unable to determine input_size, please input input_size."
            )
    elif isinstance(input_size, InputSpec):
        input_size = tuple(input_size.shape)
    elif isinstance(input_size, int):
        input_size = (input_size,)
    elif isinstance(input_size, list):
        input_size = [_item(i) for i in input_size]
    return _known(input_size)


def _item(item):
    item = (item,) if isinstance(item, int) else item
    if not isinstance(item, (tuple, InputSpec)):
        raise AssertionError(f"When input_size is list, expect item in input_size is a tuple or InputSpec, but got {type(item)}")
    return tuple(item.shape) if isinstance(item, InputSpec) else item


def _is_shape(value) -> bool:
    return isinstance(value, (list, tuple)) and not any(isinstance(i, (list, tuple)) for i in value)


def _known(sizes):
    if not _is_shape(sizes):
        return [_known(s) for s in sizes]
    unknown = [n for n in sizes if n is None or n == -1]
    if len(unknown) > 1:
        raise ValueError("Option input_size only the dim of batch_size can be None or -1.")
    for n in sizes:
        if isinstance(n, numbers.Number) and n != -1 and n <= 0:
            raise ValueError(f"Expected element in input size greater than zero, but got {n}")
    return tuple(1 if n is None or n == -1 else n for n in sizes)


def _random(sizes, dtype):
    if _is_shape(sizes):
        return paddle.rand(list(sizes)).astype((dtype[0] if isinstance(dtype, (list, tuple)) else dtype) or "float32")
    each = dtype if isinstance(dtype, (list, tuple)) else [dtype] * len(sizes)
    return [_random(s, d) for s, d in zip(sizes, each)]


# ---- what a run shows
def _shapes(value):
    if isinstance(value, (list, tuple)):
        return [_shapes(v) for v in value]
    return list(value.shape) if hasattr(value, "shape") else []


def _key(layer, count: int) -> str:
    number = layer.full_name().rsplit("_", 1)[-1]
    return f"{type(layer).__name__}-{(int(number) if number.isdigit() else count) + 1}"


def _only_holds(layer) -> bool:
    """Containers have no row of their own; recurrent networks are lists, but compute."""
    return isinstance(layer, (nn.Sequential, nn.LayerList)) and not isinstance(layer, RNNBase)


@paddle.no_grad()
def _run(net, sizes, dtypes, input) -> dict:
    """A row for each layer that was called, in order."""
    rows: dict = {}

    def note(layer, inputs, output) -> None:
        own = list(layer._parameters.values())
        own = [p for p in own if p is not None]
        rows[_key(layer, len(rows))] = {
            "input": [_shapes(v) for v in inputs if isinstance(v, (paddle.Tensor, list, tuple))],
            "output": _shapes(output),
            "params": sum(math.prod(p.shape) for p in own),
            "trainable": sum(math.prod(p.shape) for p in own if p.trainable and not p.stop_gradient),
        }

    alone = not net.sublayers()
    hooks = [
        m.register_forward_post_hook(note)
        for m in net.sublayers(include_self=True)
        if not _only_holds(m) and (m is not net or alone)
    ]
    try:
        if input is not None:
            net(input)
        else:
            net(*_random([sizes] if _is_shape(sizes) else sizes, dtypes))
    finally:
        for hook in hooks:
            hook.remove()
    return rows


# ---- text
def _table(rows) -> str:
    lines = [(k, str(r["input"]), str(r["output"]), str(r["params"])) for k, r in rows.items()]
    widths = [max([least, *(len(line[i]) for line in lines)]) for i, least in enumerate(_WIDTHS)]
    across = max(75, sum(widths) + 5)

    def row(*cells):
        return " ".join(f"{c:^{w}}" for c, w in zip(cells, widths)) + "\n"

    body = "".join(row(*line[:3], f"{rows[line[0]]['params']:,}") for line in lines)
    head = row("Layer (type)", "Input Shape", "Output Shape", "Param #")
    return "-" * across + "\n" + head + "=" * across + "\n" + body + "=" * across + "\n"


def _elements(shapes) -> int:
    """Of a shape, or of a nest of shapes."""
    if not shapes:
        return 0
    return math.prod(shapes) if _is_shape(shapes) else sum(_elements(s) for s in shapes)


def _memory(rows, sizes, total: int, trainable: int) -> str:
    across = _table(rows).index("\n")
    given = _elements(sizes) * 4.0 / _MEGABYTE
    made = 2.0 * sum(_elements(r["output"]) for r in rows.values()) * 4.0 / _MEGABYTE  # twice: with gradients
    held = total * 4.0 / _MEGABYTE
    return (
        f"Total params: {total:,}\nTrainable params: {trainable:,}\nNon-trainable params: {total - trainable:,}\n"
        + "-" * across
        + f"\nInput size (MB): {given:0.2f}\nForward/backward pass size (MB): {made:0.2f}\nParams size (MB): {held:0.2f}\n"
        + f"Estimated Total Size (MB): {given + made + held:0.2f}\n"
        + "-" * across
        + "\n"
    )
