"""How many operations a network takes."""

from __future__ import annotations

import math
import warnings

import paddle
from paddle import nn

from .flops_table import report
from .static_flops import of_program

__all__ = []


def flops(net, input_size, custom_ops=None, print_detail=False) -> int:
    """Runs the network once, in evaluation mode, and counts what its layers do: a multiplication and an addition are one.

    Convolutions, linear layers, batch norms, leaky ReLUs and average pooling are counted, other layers are taken to be free.

    Args:
        net (nn.Layer | static.Program): the network; of a program convolutions and products are counted.
        input_size (list): the shape of its one input.
        custom_ops (dict, optional): layer type -> function(layer, inputs, output) that adds to ``layer.total_ops``.
        print_detail (bool): whether a table of the layers is printed.

    Returns:
        int: the number of operations; -1, with a warning, where `net` is something else.
    """
    if isinstance(net, nn.Layer):
        return _of_layer(net, paddle.randn(input_size), custom_ops or {}, print_detail)
    if isinstance(net, paddle.static.Program):
        return of_program(net, print_detail)
    warnings.warn("Your model must be an instance of paddle.nn.Layer or paddle.static.Program.")
    return -1


# ---- what a layer does
def _convolution(m, x, y) -> None:
    taps = x[0].shape[1] / m._groups * math.prod(m.weight.shape[2:])
    m.total_ops += int(y.size * (taps + (m.bias is not None)))


def _each_input(m, x, y) -> None:
    m.total_ops += x[0].size


def _normalisation(m, x, y) -> None:
    m.total_ops += 2 * x[0].size


def _linear(m, x, y) -> None:
    m.total_ops += m.weight.shape[0] * y.size


def _each_output(m, x, y) -> None:
    m.total_ops += y.size


def _adaptive_mean(m, x, y) -> None:
    cell = math.prod(a // b for a, b in zip(x[0].shape[2:], y.shape[2:]))
    m.total_ops += (cell + 1) * y.size


def _nothing(m, x, y) -> None:
    pass


_COUNTED = {
    **dict.fromkeys((nn.Conv1D, nn.Conv2D, nn.Conv3D), _convolution),
    **dict.fromkeys((nn.Conv1DTranspose, nn.Conv2DTranspose, nn.Conv3DTranspose), _convolution),
    **dict.fromkeys((nn.BatchNorm, nn.BatchNorm2D), _normalisation),
    **dict.fromkeys((nn.ReLU, nn.ReLU6, nn.Dropout), _nothing),
    **dict.fromkeys((nn.AvgPool1D, nn.AvgPool2D, nn.AvgPool3D), _each_output),
    **dict.fromkeys((nn.AdaptiveAvgPool1D, nn.AdaptiveAvgPool2D, nn.AdaptiveAvgPool3D), _adaptive_mean),
    nn.LeakyReLU: _each_input,
    nn.Linear: _linear,
}


def _counter(kind, custom, told):
    """The function for layers of that kind; says once which it is."""
    found = custom.get(kind) or _COUNTED.get(kind)
    if kind not in told:
        told.add(kind)
        if kind in custom:
            print(f"Customize Function has been applied to {kind}")
        elif found is not None:
            print(f"{kind}'s flops has been counted")
        else:
            print(f"Cannot find suitable count function for {kind}. Treat it as zero FLOPs.")
    return found


def _of_layer(net, inputs, custom, print_detail) -> int:
    seen: dict = {}  # layer -> (shape of its input, of its output)

    def note(layer, x, y) -> None:
        seen[layer] = list(x[0].shape), list((y[0] if isinstance(y, (list, tuple)) else y).shape)

    leaves = [m for m in net.sublayers(include_self=True) if not list(m.children())]
    told: set = set()
    hooks = []
    for layer in leaves:
        layer.__dict__["total_ops"] = 0
        count = _counter(type(layer), custom, told)
        hooks += [layer.register_forward_post_hook(f) for f in (count, note) if f is not None]
    training = net.training
    net.eval()
    try:
        with paddle.no_grad():
            net(inputs)
    finally:
        if training:
            net.train()
        for hook in hooks:
            hook.remove()
    rows = [
        [m.full_name(), *seen[m], sum(p.size for p in m.parameters()), int(m.total_ops)] for m in leaves if m in seen
    ]
    for layer in leaves:
        layer.__dict__.pop("total_ops", None)
        layer._buffers.pop("total_ops", None)  # where a counter added a tensor
    return report(["Layer Name", "Input Shape", "Output Shape", "Params", "Flops"], rows, print_detail)
