"""Running gradients backwards: ``backward`` fills ``.grad``, ``grad`` returns gradients."""

from __future__ import annotations

from ..base import core

__all__ = ["backward", "grad"]


def _tensors(value, name) -> list:
    items = list(value) if isinstance(value, (list, tuple, set)) else [value]
    for item in items:
        if not isinstance(item, core.Tensor):
            raise TypeError(f"[grad] {name} expected Tensors, got {type(item).__name__}")
    return items


def _seeds(value, outputs, name):
    """Initial gradients as a list of the outputs' length, None meaning ones."""
    if value is None:
        return [None] * len(outputs)
    items = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(items) != len(outputs):
        raise AssertionError(f"[grad] {name} expected {len(outputs)} items as there are outputs, got {len(items)}")
    for item in items:
        if item is not None and not isinstance(item, core.Tensor):
            raise TypeError(f"[grad] {name} expected Tensors or None, got {type(item).__name__}")
    return items


def backward(tensors, grad_tensors=None, retain_graph: bool = False, *, dump_backward_graph_path=None) -> None:
    """Adds to ``.grad`` of every leaf below ``tensors`` its gradient.

    Args:
        tensors: a tensor or a list of different tensors.
        grad_tensors: initial gradients of their shapes; None means ones.
        retain_graph: keep what a second backward pass needs.

    Raises:
        AssertionError: the same tensor twice, or counts that differ.
    """
    tensors = _tensors(tensors, "tensors")
    if len({id(t) for t in tensors}) != len(tensors):
        raise AssertionError(
            "The argument 'tensors' of paddle.autograd.backward contains duplicate paddle.Tensor object."
        )
    core._core.backward(tensors, _seeds(grad_tensors, tensors, "grad_tensors"), bool(retain_graph))


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars=None,
    *,
    dump_backward_graph_path=None,
) -> list:
    """Gradients of the sum of ``outputs`` with respect to ``inputs``; ``.grad`` is left alone.

    Args:
        outputs, inputs: a tensor or a list of tensors.
        grad_outputs: weights of the outputs, of their shapes; None means ones.
        retain_graph: keep what a second pass needs; default: as ``create_graph``.
        create_graph: make the gradients differentiable again.
        allow_unused: give None for an input that the outputs don't depend on, instead of raising.
        no_grad_vars: tensors through which nothing flows back.

    Returns:
        One gradient per input.

    Raises:
        RuntimeError: an unused input. NotImplementedError: ``only_inputs=False``.
    """
    if not only_inputs:
        raise NotImplementedError("[grad] only_inputs=False is not supported")
    outputs, inputs = _tensors(outputs, "outputs"), _tensors(inputs, "inputs")
    blocked = [] if no_grad_vars is None else _tensors(no_grad_vars, "no_grad_vars")
    retain = create_graph if retain_graph is None else retain_graph
    return core._core.grad(
        outputs,
        inputs,
        _seeds(grad_outputs, outputs, "grad_outputs"),
        bool(retain),
        bool(create_graph),
        True,
        bool(allow_unused),
        blocked,
    )
