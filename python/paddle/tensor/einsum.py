"""Einstein's summation, composed of transpositions, products, sums and matrix products."""

from __future__ import annotations

import math

from ..base.core import _C_ops
from ._common import Tensor

_ELLIPSIS = "."  # stands for the axes of "..." one by one: ".0", ".1", ...


def _labels(term, rank, dots):
    """The labels of one operand's axes; "..." takes the axes that are left, counted from the back."""
    if "..." in term:
        before, _, after = term.partition("...")
        n = rank - len(before) - len(after)
        if n < 0:
            raise ValueError(f"[einsum] {term!r} has more labels than the operand has axes ({rank})")
        return list(before) + [f"{_ELLIPSIS}{dots - n + i}" for i in range(n)] + list(after)
    if len(term) != rank:
        raise ValueError(f"[einsum] {term!r} has {len(term)} labels, the operand has {rank} axes")
    return list(term)


def _parse(equation, ranks):
    equation = equation.replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise ValueError(f"[einsum] {equation!r} names {len(terms)} operands, got {len(ranks)}")
    for term in [*terms, right]:
        rest = term.replace("...", "", 1)
        if not (rest.isalpha() or rest == ""):
            raise ValueError(f"[einsum] expected letters, '...', ',' and '->', got {equation!r}")
    dots = max([r - len(t.replace("...", "")) for t, r in zip(terms, ranks) if "..." in t], default=0)
    inputs = [_labels(t, r, dots) for t, r in zip(terms, ranks)]
    dot_labels = [f"{_ELLIPSIS}{i}" for i in range(dots)]
    if arrow:
        if "..." in right:
            before, _, after = right.partition("...")
            output = list(before) + dot_labels + list(after)
        else:
            output = list(right)
    else:
        letters = [c for c in left if c.isalpha()]
        output = dot_labels + sorted(c for c in set(letters) if letters.count(c) == 1)
    known = {label for labels in inputs for label in labels}
    for label in output:
        if label not in known:
            raise ValueError(f"[einsum] output label {label!r} is in no operand")
        if output.count(label) > 1:
            raise ValueError(f"[einsum] output label {label!r} occurs twice")
    return inputs, output


def _diagonals(x, labels):
    """Repeated labels of one operand become their diagonal."""
    labels = list(labels)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            a = labels.index(label)
            b = labels.index(label, a + 1)
            x = _C_ops.diagonal(x, 0, a, b)
            labels = [v for i, v in enumerate(labels) if i not in (a, b)] + [label]
    return x, labels


def _sum_out(x, labels, keep):
    gone = [i for i, v in enumerate(labels) if v not in keep]
    if gone:
        x = _C_ops.sum(x, gone, x.dtype, False)
    return x, [v for v in labels if v in keep]


def _arrange(x, labels, order):
    perm = [labels.index(v) for v in order]
    return x if perm == list(range(len(perm))) else _C_ops.transpose(x, perm)


def _contract(a, la, b, lb, keep):
    """One matrix product of two operands: batch labels, then the rows of each, the common ones summed."""
    size_a, size_b = dict(zip(la, a.shape)), dict(zip(lb, b.shape))
    common = [v for v in la if v in lb]
    batch = [v for v in common if v in keep]
    summed = [v for v in common if v not in keep]
    # A summed axis of size 1 meets one of another size: the sums part.
    for v in list(summed):
        if size_a[v] != size_b[v]:
            summed.remove(v)
            x, labels = (b, lb) if size_a[v] == 1 else (a, la)
            x = _C_ops.sum(x, [labels.index(v)], x.dtype, True)
            if size_a[v] == 1:
                b = x
            else:
                a = x
            size_a[v] = size_b[v] = 1
            a = _C_ops.squeeze(a, [la.index(v)])
            b = _C_ops.squeeze(b, [lb.index(v)])
            la = [u for u in la if u != v]
            lb = [u for u in lb if u != v]
    only_a = [v for v in la if v not in lb]
    only_b = [v for v in lb if v not in la]
    out = batch + only_a + only_b
    if not summed:  # an outer product: no sum, so a multiplication
        a = _arrange(a, la, batch + only_a)
        b = _arrange(b, lb, batch + only_b)
        a = _C_ops.reshape(a, list(a.shape) + [1] * len(only_b))
        b = _C_ops.reshape(b, list(b.shape[: len(batch)]) + [1] * len(only_a) + list(b.shape[len(batch) :]))
        return a * b, out
    a = _arrange(a, la, batch + only_a + summed)
    b = _arrange(b, lb, batch + summed + only_b)
    k = math.prod(size_a[v] for v in summed)
    rows, columns = math.prod(size_a[v] for v in only_a), math.prod(size_b[v] for v in only_b)
    batch_a, batch_b = [size_a[v] for v in batch], [size_b[v] for v in batch]
    product = _C_ops.matmul(
        _C_ops.reshape(a, [*batch_a, rows, k]), _C_ops.reshape(b, [*batch_b, k, columns]), False, False
    )
    sizes = [*product.shape[: len(batch)], *(size_a[v] for v in only_a), *(size_b[v] for v in only_b)]
    return _C_ops.reshape(product, sizes), out


def _check_sizes(operands, inputs):
    sizes = {}
    for x, labels in zip(operands, inputs):
        for label, n in zip(labels, x.shape):
            before = sizes.setdefault(label, n)
            if before != n and before != 1 and n != 1:
                raise ValueError(f"[einsum] label {label!r} stands for sizes {before} and {n}")
            sizes[label] = max(before, n)


def einsum(equation, *operands):
    """Sums of products of the operands' elements by Einstein's convention: "ij,jk->ik" is the matrix product.

    Args:
        equation (str): labels of each operand's axes; "..." stands for broadcast axes; after "->" those of the result
            (by default the labels that occur once, in alphabetical order).

    Raises:
        ValueError: labels and operands don't fit.
    """
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    operands = list(operands)
    if not operands or not all(isinstance(x, Tensor) for x in operands):
        raise ValueError(f"[einsum] expected Tensors as operands, got {[type(x).__name__ for x in operands]}")
    inputs, output = _parse(equation, [x.ndim for x in operands])
    _check_sizes(operands, inputs)
    terms = [_diagonals(x, labels) for x, labels in zip(operands, inputs)]
    while len(terms) > 1:
        (a, la), (b, lb) = terms[0], terms[1]
        later = {v for _, labels in terms[2:] for v in labels} | set(output)
        a, la = _sum_out(a, la, later | set(lb))
        b, lb = _sum_out(b, lb, later | set(la))
        terms[:2] = [_contract(a, la, b, lb, later)]
    x, labels = _sum_out(*terms[0], set(output))
    return _arrange(x, labels, output)
