"""Gradients inside a program."""

from __future__ import annotations

from ..autograd.backward_mode import grad
from ..base import core
from .program import default_main_program

__all__ = ["append_backward", "gradients"]


def _as_list(x) -> list:
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _without(no_grad_set) -> list:
    """Names and variables that no gradient passes, as variables."""
    main = default_main_program()
    found = []
    for item in no_grad_set or ():
        item = main._named(item) if isinstance(item, str) else item
        if item is not None:
            found.append(item)
    return found


def append_backward(loss, parameter_list=None, no_grad_set=None, callbacks=None, checkpoints=None, distop_context=None):
    """Appends the gradient of ``loss`` to the program.

    Args:
        loss: a variable with one element.
        parameter_list: parameters (or their names) to differentiate by; None: all of the program, the newest first.
        no_grad_set: variables or names that no gradient passes.
        callbacks, checkpoints: accepted; what is kept for the gradient is chosen when the program is compiled.

    Returns:
        A list of (parameter, gradient); the gradient is None where the loss does not depend on the parameter, or no
        gradient passes it.

    Raises:
        TypeError: ``loss`` is no variable.
        ValueError: it has more than one element.
    """
    if not isinstance(loss, core.Tensor):
        raise TypeError(f"The type of 'loss' in append_backward must be a Variable, but received {type(loss)}.")
    if loss.size != 1:
        raise ValueError(f"The loss must have one element to be differentiated, got shape {list(loss.shape)}")
    main = default_main_program()
    if parameter_list is None:
        chosen = main.global_block().all_parameters()
    else:
        chosen = [main._named(p) if isinstance(p, str) else p for p in _as_list(parameter_list)]
        chosen = [p for p in chosen if p is not None]
    stops = _without(no_grad_set)
    passed = [p for p in chosen if not p.stop_gradient and not any(p is s for s in stops)]
    role, main._role = main._role, 1
    try:
        found = grad([loss], passed, allow_unused=True, no_grad_vars=stops or None) if passed else []
    finally:
        main._role = role
    gradients = {id(p): g for p, g in zip(passed, found)}
    return [(p, gradients.get(id(p))) for p in chosen]


def gradients(targets, inputs, target_gradients=None, no_grad_set=None):
    """Appends the gradients of ``targets`` with respect to ``inputs``.

    Args:
        targets: variables that are differentiated (their sum, where there are several).
        inputs: variables that are differentiated by, ``static.data`` among them.
        target_gradients: what the targets' gradients start with; None: ones.
        no_grad_set: variables or names that no gradient passes.

    Returns:
        A list with a variable for each input, None where the targets do not depend on it.
    """
    targets, inputs = _as_list(targets), _as_list(inputs)
    seeds = None if target_gradients is None else _as_list(target_gradients)
    main = default_main_program()
    role, main._role = main._role, 1
    try:
        return grad(
            targets, inputs, seeds, create_graph=True, allow_unused=True, no_grad_vars=_without(no_grad_set) or None
        )
    finally:
        main._role = role
