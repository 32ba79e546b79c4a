"""Gradients of programs, where clients look for them."""

from ..static.backward import append_backward, gradients

__all__ = ["append_backward", "gradients", "gradients_with_optimizer"]


def gradients_with_optimizer(program, optimizer, inputs=None, outputs=None):
    """Appends the gradients of ``outputs`` and the updates of ``optimizer``; ([operators], pairs)."""
    from ..static.program import program_guard

    if outputs is None:
        raise ValueError("[gradients_with_optimizer] outputs: which variables are to be differentiated")
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    with program_guard(program):
        pairs = optimizer.backward(sum(outputs[1:], outputs[0]).sum(), parameters=inputs)
        return optimizer.apply_gradients(pairs), pairs
