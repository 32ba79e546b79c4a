"""Random functions that view, alias and write tensors, straight or with branches and loops, with arguments that share memory: values,
what the arguments hold afterwards and gradients are eager's, captured whole (or refused by an error that says so) and in segments."""

from __future__ import annotations

import random

import paddle
import pytest
from random_memory import ALIASES, Writer, differences, make, outcome
from real_core import REFUSALS

STRAIGHT = frozenset(["no_grad", "list", "layer"])
CONTROL = STRAIGHT | {"if", "loop"}


def compared(text: str, seed: int, aliases: str, whole: bool) -> bool:
    """Whether the program runs, as it does as eager; False where eager has an error, too, or the capture is refused."""
    try:
        want = outcome(make(text, f"<memory {seed}>"), seed, aliases, True)
    except (RuntimeError, ValueError):
        return False  # as a leaf that is written
    captured = paddle.jit.to_static(make(text, f"<memory {seed} captured>"), full_graph=whole, backend=None)
    try:
        got = outcome(captured, seed, aliases, True)
    except REFUSALS:
        if whole:
            return False
        raise
    assert not list(differences(got, want)), f"{aliases}\n{text}"
    return True


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "segments"])
@pytest.mark.parametrize(("features", "count"), [(STRAIGHT, 90), (CONTROL, 60)], ids=["straight", "control"])
def test_random_functions(features, count, whole):
    ran = 0
    for seed in range(count):
        aliases = random.Random(seed).choice(ALIASES)
        ran += compared(Writer(seed, features).source(), seed, aliases, whole)
    assert ran > count * (0.65 if whole else 0.85)


# Found by such functions, and made small: how the arguments lie, and the lines.
SMALL = [
    ("apart", "m.kept[i] += q", "r2 = m.kept[1]", "return r2 * 1,"),
    ("apart", "m.kept[:] = x * 0.5", "m.kept[i] = 1.25", "return ()"),
    ("apart", "m.kept[:] = y.T.T", "m.kept.copy_(x + q, False)", "return ()"),
    ("apart", "m.kept[i] += q", "m.kept.add_(q * 0.25)", "return ()"),
    ("apart", "m.kept = x * 0.5", "m.kept[0] = q", "return ()"),
    ("row", "paddle.assign(y, output=x)", "return ()"),
    ("apart", "paddle.assign(m.kept, output=y)", "return ()"),
    ("buffer row", "paddle.assign(y, output=m.kept)", "return ()"),
    ("buffer row", "q[:] = x.sum(0) * 0.25", "a1 = m.kept", "return a1 * 1,"),
    ("buffer row", "r1 = q + q", "a2 = y - r1", "q[:] = y[0]", "a2[0:2].add_(m.kept[1:3])", "return ()"),
    ("buffer row", "m.kept[1:3] = y[0:2]", "return q,"),
    ("buffer", "y[:] = y - q", "r1 = m.kept[i] * 0.5", "return r1 * 1,"),
    ("buffer", "y[i] += q", "y[:] = m.kept.reshape([2, 6]).reshape([4, 3])", "return ()"),
    ("buffer", "m.kept[i] += q", "return y * 1,"),
    ("buffer row", "m.kept.add_(x * 0.25)", "return q * 1,"),
    ("rows", "x.copy_(y, False)", "return y * 1,"),
    ("transposed", "x.copy_(y, False)", "return y * 1,"),
    ("transposed", "y.add_(m.kept * 0.25)", "y[:] = x", "return ()"),
    ("row", "r4 = x.T[:, 2]", "r4[:] = x[i]", "return q * 1,"),
    ("apart", "if i < 0:", "    q[q > 0.9] = 0.1", "else:", "    q = x[2]", "return q * 1,"),
    ("apart", "r1 = m.kept[2]", "if c > 0:", "    r1[r1 > 0.9] = 0.1", "else:", "    r1 = q * -0.75", "return r1,"),
    ("transposed", "if c > 1:", "    y = y[:]", "else:", "    x.add_(y * 0.25)", "return y * 1,"),
    ("apart", "if q.max() > 0.8:", "    m.kept[i] = q + q", "return ()"),
    ("apart", "if c > 0:", "    q.add_(q * 0.5)", "else:", "    paddle.assign(x, output=m.kept)", "return ()"),
    ("apart", "m.kept[:] = y", "if i < 0:", "    a4 = x * -0.75", "else:", "    with paddle.no_grad():", "        m.kept[0:2].add_(m.kept[1:3])",
     "    r5 = m.kept.flatten()[3:6]", "return ()"),  # fmt: skip
    ("buffer row", "if q.max() > 0.8:", "    q.add_(q * 0.5)", "else:", "    y[1:3] = m.kept[0:2]", "m.kept[:, 1] = -0.75", "return ()"),
    ("buffer detached", "y[i] += q", "if c > 0:", "    m.kept[:] = y", "return ()"),
    ("buffer detached", "if c > 1:", "    y[i] = -0.75", "else:", "    paddle.assign(x, output=m.kept)", "return ()"),
    ("buffer detached", "for k1 in range(n):", "    m.kept.add_(q * 0.25)", "return ()"),
    ("detach", "if x.sum() > 1.5:", "    y[i] += q", "return ()"),
    ("detach", "if i < 0:", "    x = y - q", "y[i] = 1.25", "k = paddle.zeros([], 'int64')", "while k < 2:", "    k = k + 1",
     "    with paddle.no_grad():", "        x.add_((q + q) * 0.25)", "return ()"),  # fmt: skip
    ("row", "for k3 in range(n):", "    x = x.clone()", "if c > 1:", "    x[:, 1] = 1.25", "return ()"),
    ("apart", "if c > 0:", "    if i < 0:", "        a = x[:]", "    else:", "        a = y[:]", "else:", "    a = y * 1", "y.add_(x)", "return a * 1,"),
    ("apart", "a = x * 1", "for k in range(n):", "    a = a.reshape([3, 4]).reshape([4, 3])", "a[0] = 0.5", "return a * 1,"),
    ("apart", "y.zero_()", "if n > 1:", "    y.copy_(m.kept, False)", "else:", "    q.numpy()", "return ()"),
    ("apart", "if c > 0:", "    r1 = x[1]", "else:", "    m.kept = paddle.tanh(x)", "return ()"),
    ("shifted", "if i < 0:", "    m.kept[0] = 0.3", "else:", "    x = m.kept", "a2 = x.reshape([3, 4])", "a2[a2 > 1.5] = 0.3", "return ()"),
    ("apart", "a = y * 1", "b = a", "for k in range(n):", "    b = b[:]", "a.add_(x)", "return b * 1,"),
]  # fmt: skip


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "segments"])
@pytest.mark.parametrize("case", SMALL, ids=lambda case: "; ".join(line.strip() for line in case[1:-1]))
def test_small_functions(case, whole):
    aliases, *lines = case
    text = "\n    ".join(["def f(x, y, q, c, n, i, m):", *lines]) + "\n"
    for seed in range(3):
        ran = compared(text, seed, aliases, whole)
        assert ran != (whole and bool(REFUSED_WHOLE & {aliases, *lines}))


# Refused where it has to be captured whole: nobody knows around it which round, which inner branch or which of two that overlap; a value is read.
REFUSED_WHOLE = {
    "        a = x[:]",
    "    a = a.reshape([3, 4]).reshape([4, 3])",
    "    b = b[:]",
    "    q.numpy()",
    "shifted",
}
