"""Random functions full of nested branches, loops and exits: the program equals plain Python on every input."""

from __future__ import annotations

import linecache
import random

import numpy as np
import pytest
from harness import arrays, same, tensors, trace

INPUTS = [
    (np.float32(a), np.float32(b), np.int64(n))
    for a, b, n in [(1, 2, 3), (-1, 4, 0), (5, -3, 2), (0.5, 0.25, 5), (-7, -8, 1)]
]


class Writer:
    """Writes one function over the tensors ``a``, ``b`` (float) and ``n`` (int) and the list ``items``."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = ["def f(a, b, n):", "    c = a * 0", "    k = 0", "    box = {'v': a}"]
        self.fresh = 0
        self.depth = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def value(self):
        return self.pick(
            "a", "b", "c", "k", "box['v']", "a + b", "b - c", "c * 0.5", "k + 1", "1.5", "(a if b > c else b)"
        )

    def test(self):
        simple = [f"{self.value()} > {self.value()}", "n > 2", "k < 3", "a < b", "c <= 4"]
        one = self.random.choice(simple)
        two = self.random.choice(simple)
        return self.pick(
            one, one, f"{one} and {two}", f"{one} or {two}", f"not ({one})", "-2 < a < 3", f"({one}) and not ({two})"
        )

    def emit(self, indent, text):
        self.lines.append("    " * indent + text)

    def block(self, indent, loops, budget):
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent, loops, budget)

    def statement(self, indent, loops, budget):
        kind = self.random.random()
        if budget <= 0 or kind < 0.4:
            self.emit(indent, self.assignment())
        elif kind < 0.65:
            self.emit(indent, f"if {self.test()}:")
            self.block(indent + 1, loops, budget - 1)
            if self.random.random() < 0.3:
                self.emit(indent, f"elif {self.test()}:")
                self.block(indent + 1, loops, budget - 1)
            if self.random.random() < 0.6:
                self.emit(indent, "else:")
                self.block(indent + 1, loops, budget - 1)
        elif kind < 0.85:
            self.loop(indent, budget)
        elif kind < 0.93 and loops:
            self.emit(indent, f"if {self.test()}:")
            self.emit(indent + 1, self.assignment())
            self.emit(indent + 1, self.pick("break", "continue"))
        else:
            self.emit(indent, f"if {self.test()}:")
            self.emit(indent + 1, self.assignment())
            self.emit(indent + 1, f"return {self.result()}")

    def assignment(self):
        return self.pick(
            f"a = {self.value()} + a * 0", f"b = b * 0 + {self.value()}", f"c = c + {self.value()} * 0.25", "k = k + 1",
            f"box['v'] = box['v'] * 0 + {self.value()}", "a, b = b, a", f"t = {self.value()}; c = c + t * 0.125", "c += a * 0.5",
        )  # fmt: skip

    def loop(self, indent, budget):
        self.fresh += 1
        i = f"i{self.fresh}"
        kind = self.random.random()
        if kind < 0.35:
            self.emit(indent, f"for {i} in range({self.pick('n', '3', 'n + 1', '2')}):")
        elif kind < 0.5:
            self.emit(indent, f"for {i}, t in enumerate([a, b, c]):")
        else:
            self.emit(indent, f"{i} = 0")
            self.emit(indent, f"while {self.pick(f'{i} < n', f'{i} < n and ({self.test()})', f'{i} < 3')}:")
            self.emit(indent + 1, f"{i} = {i} + 1")
        self.block(indent + 1, True, budget - 1)
        if self.random.random() < 0.2:
            self.emit(indent, "else:")
            self.block(indent + 1, False, budget - 2)

    def result(self):
        return self.pick("a, b, c * 1.0, k + 0 * n", "a + c, b * 1.0, c * 1.0, n + k")

    def source(self):
        self.block(1, False, 3)
        self.block(1, False, 3)
        self.emit(1, f"return {self.result()}")
        return "\n".join(self.lines) + "\n"


def make(seed: int):
    text = Writer(seed).source()
    name = f"<random program {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"__name__": "random_program"}
    exec(compile(text, name, "exec"), space)  # noqa: S102
    return space["f"], text


def run_seed(seed: int) -> None:
    f, text = make(seed)
    try:
        run, _ = trace(f, INPUTS[0])
        for args in INPUTS:
            want = arrays(f(*tensors(args)))
            same(
                tuple(np.asarray(v, dtype="float64") for v in arrays(run(*args))),
                tuple(np.asarray(v, dtype="float64") for v in want),
            )
    except BaseException:
        print(text)
        raise


@pytest.mark.parametrize("start", range(0, 40, 20))
def test_random_programs(start):
    for seed in range(start, start + 20):
        run_seed(seed)
