"""Random straight-line functions that view, alias and write tensors, with arguments that share memory: values and what the arguments hold
afterwards are eager's, captured whole (or refused, where arguments overlap in part) and in segments."""

from __future__ import annotations

import random

import paddle
import pytest
from random_memory import ALIASES, Writer, differences, make, outcome


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "segments"])
@pytest.mark.parametrize("start", range(0, 120, 40))
def test_straight_lines(start, whole):
    ran = 0
    for seed in range(start, start + 40):
        aliases = random.Random(seed).choice(ALIASES)
        text = Writer(seed, frozenset(["no_grad", "list"])).source()
        want = outcome(make(text, f"<memory {seed}>"), seed, aliases, False)
        captured = paddle.jit.to_static(make(text, f"<memory {seed} captured>"), full_graph=whole, backend=None)
        try:
            got = outcome(captured, seed, aliases, False)
        except NotImplementedError as error:
            assert whole and "memory is partly another" in str(error)
            continue
        ran += 1
        assert not list(differences(got, want)), f"{aliases}\n{text}"
    assert ran > 25
