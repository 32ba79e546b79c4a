"""Functions with gradients of their own, in programs."""

from __future__ import annotations

import paddle

__all__ = ["static_pylayer"]


def static_pylayer(forward_fn, inputs, backward_fn=None, name=None):
    """``forward_fn(*inputs)``, whose gradient is ``backward_fn(*gradients of the results)``.

    Args:
        forward_fn: takes and returns variables.
        inputs: a list of variables.
        backward_fn: returns one gradient an input. None: no gradient passes.

    Raises:
        TypeError: a function isn't callable.
        NotImplementedError: in a program, ``backward_fn`` does what a captured gradient can't (write to variables, ask for values).
    """
    for label, function in (("forward_fn", forward_fn), ("backward_fn", backward_fn)):
        if not callable(function) and not (function is None and label == "backward_fn"):
            raise TypeError(f"The type of {label} in static_pylayer must be callable, got {type(function).__name__}")
    if backward_fn is None:
        with paddle.no_grad():
            return forward_fn(*inputs)

    class Function(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, *args):
            return forward_fn(*args)

        @staticmethod
        def backward(ctx, *grads):
            return backward_fn(*grads)

    return Function.apply(*inputs)
