"""Random small functions that view, alias and write tensors, run as eager and as captured programs."""

from __future__ import annotations

import linecache
import random

import numpy as np
import paddle

ROWS, COLUMNS = 4, 3
NUMBERS = ("0.5", "1.25", "-0.75", "2.0")
MATRIX_VIEWS = ("{}[:]", "{}.detach()", "{}.reshape([4, 3])", "{}.reshape([2, 6]).reshape([4, 3])", "{}.T.T",
                "{}.unsqueeze(0)[0]", "{}[::-1]", "{}.reshape([3, 4]).reshape([4, 3])", "{}.T.reshape([4, 3])")  # fmt: skip
ROW_VIEWS = ("{}[1]", "{}[-1]", "{}[i]", "{}.flatten()[3:6]", "{}.T[:, 2]", "{}.unbind(0)[1]", "{}.detach()[2]",
             "{}[1:][0]", "list({})[0]", "paddle.split({}, 2)[1][0]")  # fmt: skip


class Writer:
    """The source of one function of tensors ``x``, ``y`` (matrices), ``q`` (a row), ``c``, ``n``, ``i`` (numbers) and a layer ``m``."""

    def __init__(self, seed: int, features: frozenset) -> None:
        self.random, self.features = random.Random(seed), features
        self.lines: list[str] = []
        self.matrices, self.rows, self.lists = ["x", "y", "m.kept"], ["q"], []
        self.fresh = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, p):
        return self.random.random() < p

    def matrix(self):
        return self.random.choice(self.matrices)

    def row(self):
        return self.random.choice(self.rows)

    def any(self):
        return self.pick(self.matrix, self.row)()

    def emit(self, indent, text):
        self.lines.append("    " * indent + text)

    def name(self, kind):
        """A variable of a kind: a new one, or one that there is."""
        known = {"a": self.matrices, "r": self.rows}[kind]
        mine = [v for v in known if v[0] == kind] + [v for v in known if v in "xyq" and self.chance(0.3)]
        if mine and self.chance(0.45):
            return self.random.choice(mine)
        self.fresh += 1
        return f"{kind}{self.fresh}"

    def matrix_value(self):
        return self.pick(
            f"{self.matrix()} * {self.pick(*NUMBERS)}", f"{self.matrix()} + {self.any()}", f"{self.matrix()} - {self.row()}",
            f"paddle.tanh({self.matrix()})", f"{self.matrix()}.clone()",
        )  # fmt: skip

    def row_value(self):
        return self.pick(
            f"{self.row()} * {self.pick(*NUMBERS)}", f"{self.matrix()}.sum(0) * 0.25", f"{self.row()} + {self.row()}",
            f"{self.matrix()}[i] * 0.5", f"{self.row()}.clone()",
        )  # fmt: skip

    def matrix_source(self):
        k = self.random.random()
        if k < 0.2:
            return self.matrix()
        if k < 0.55:
            return self.pick(*MATRIX_VIEWS).format(self.matrix())
        return self.matrix_value()

    def row_source(self):
        k = self.random.random()
        if k < 0.15:
            return self.row()
        if k < 0.65:
            return self.pick(*ROW_VIEWS).format(self.matrix())
        return self.row_value()

    def test(self):
        return self.pick(
            "c > 0", "c > 1", "n > 1", "i < 0", f"{self.matrix()}.sum() > 1.5", f"{self.row()}.max() > 0.8"
        )

    def write(self):
        m, r = self.matrix(), self.row()
        return self.pick(
            f"{m}.add_({self.any()} * 0.25)", f"{m}.multiply_(paddle.full([], 1.1))", f"{m}[{self.pick('0', '-1', '2', 'i')}] = {self.row_source()}",
            f"{m}[i] = {self.pick(*NUMBERS)}", f"{m}[1:3] = {self.matrix()}[0:2]", f"{m}[:, 1] = {self.pick(*NUMBERS)}",
            f"{m}[{m} > 1.5] = 0.3", f"{m}[:] = {self.matrix_source()}", f"{m}.copy_({self.matrix()}, False)", f"{m}.zero_()",
            f"{r}[0] = {self.pick(*NUMBERS)}", f"{r}.add_({self.row()} * 0.5)", f"{r}.scale_(0.9)", f"{r}[:] = {self.row_source()}",
            f"{r}[{r} > 0.9] = 0.1", f"{m}[i] += {self.row()}", f"{m}[1:, 0] *= 0.5", f"{r}.subtract_({self.row()} * 0.125)",
            f"paddle.assign({self.matrix()}, output={m})", f"{m}.tanh_()", f"{m}[0:2].add_({self.matrix()}[1:3])",
        )  # fmt: skip

    def statement(self, indent, budget, loops):
        kind = self.random.random()
        scope = (list(self.matrices), list(self.rows), list(self.lists))
        if budget > 0 and "if" in self.features and kind < 0.14:
            self.emit(indent, f"if {self.test()}:")
            self.block(indent + 1, budget - 1, loops)
            if self.chance(0.5):
                self.matrices, self.rows, self.lists = (list(s) for s in scope)
                self.emit(indent, "else:")
                self.block(indent + 1, budget - 1, loops)
            self.matrices, self.rows, self.lists = scope
        elif budget > 0 and "loop" in self.features and kind < 0.22:
            self.fresh += 1
            k = f"k{self.fresh}"
            if self.chance(0.5):
                self.emit(indent, f"for {k} in range(n):")
            else:
                self.emit(indent, f"{k} = paddle.zeros([], 'int64')")
                self.emit(indent, f"while {k} < {self.pick('n', '2')}:")
                self.emit(indent + 1, f"{k} = {k} + 1")
            self.block(indent + 1, budget - 1, True)
            self.matrices, self.rows, self.lists = scope
        elif kind < 0.5:
            if self.chance(0.5):
                source = self.matrix_source()
                v = self.name("a")
                self.emit(indent, f"{v} = {source}")
                if v not in self.matrices:
                    self.matrices.append(v)
            else:
                source = self.row_source()
                v = self.name("r")
                self.emit(indent, f"{v} = {source}")
                if v not in self.rows:
                    self.rows.append(v)
        elif kind < 0.55 and "list" in self.features and not (loops and not self.lists):
            if self.lists and self.chance(0.7):
                s = self.random.choice(self.lists)
                if self.chance(0.4):
                    self.emit(indent, f"{s}.append({self.row()})")
                elif self.chance(0.4):
                    self.emit(indent, f"{s}[{self.pick('0', '-1')}] = {self.row_source()}")
                else:
                    self.emit(indent, f"{s}[{self.pick('0', '-1')}].add_({self.row()} * 0.5)")
            else:
                self.fresh += 1
                self.emit(indent, f"s{self.fresh} = [{self.row()}, {self.row()}]")
                self.lists.append(f"s{self.fresh}")
        elif kind < 0.6 and "no_grad" in self.features:
            self.emit(indent, "with paddle.no_grad():")
            self.emit(indent + 1, self.write())
        elif kind < 0.62 and "layer" in self.features:
            self.emit(
                indent,
                f"m.kept = {self.matrix_value()}"
                if self.chance(0.2)
                else f"m.kept.copy_({self.matrix_value()}, False)",
            )
        else:
            self.emit(indent, self.write())

    def block(self, indent, budget, loops=False):
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent, budget, loops)

    def source(self):
        self.emit(0, "def f(x, y, q, c, n, i, m):")
        for _ in range(self.random.randint(2, 6)):
            self.statement(1, 2, False)
        results = [
            v if self.chance(0.4) else f"{v} * 1"
            for v in sorted({*self.matrices, *self.rows} - {"m.kept"})
            if self.chance(0.7)
        ]
        results += [f"{s}[0] * 1, {s}[-1] * 1" for s in self.lists]
        self.emit(1, f"return {', '.join(sorted(results))}{',' if results else '()'}")
        return "\n".join(self.lines) + "\n"


def make(text: str, name: str):
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"__name__": "random_memory", "paddle": paddle}
    exec(compile(text, name, "exec"), space)  # noqa: S102
    return space["f"]


class Keeper(paddle.nn.Layer):
    def __init__(self, values) -> None:
        super().__init__()
        self.register_buffer("kept", paddle.to_tensor(values))


ALIASES = (
    "apart",
    "same",
    "detach",
    "view",
    "rows",
    "buffer",
    "buffer detached",
    "row",
    "buffer row",
    "shifted",
    "transposed",
)


class World:
    """Arguments with a history, and how they lie in memory."""

    def __init__(self, seed: int, aliases: str, grad: bool) -> None:
        r = np.random.RandomState(seed)
        new = lambda *shape: r.uniform(-1, 2, shape).astype("float32")  # noqa: E731
        self.roots = [
            paddle.to_tensor(new(ROWS + 1, COLUMNS)),
            paddle.to_tensor(new(ROWS, COLUMNS)),
            paddle.to_tensor(new(COLUMNS)),
        ]
        for t in self.roots:
            t.stop_gradient = not grad
        self.m = Keeper(new(ROWS, COLUMNS))
        z, y, q = (t * 1.0 for t in self.roots)
        x = z if aliases in ("shifted",) else z[:ROWS] * 1.0
        if aliases == "same":
            y = x
        elif aliases == "detach":
            y = x.detach()
        elif aliases == "view":
            y = x[:]
        elif aliases == "rows":
            y = x[::-1]
        elif aliases == "transposed":
            y = x.reshape([3, 4]).T
        elif aliases == "buffer":
            y = self.m.kept
        elif aliases == "buffer detached":
            y = self.m.kept.detach()
        elif aliases == "row":
            q = x[1]
        elif aliases == "buffer row":
            q = self.m.kept[2]
        elif aliases == "shifted":
            self.whole = x
            x, y = self.whole[:ROWS], self.whole[1:]
        self.given = [x, y, q]

    def call(self, f, numbers):
        c, n, i = numbers
        return f(
            *self.given,
            paddle.to_tensor(np.float32(c)),
            paddle.to_tensor(np.int64(n)),
            paddle.to_tensor(np.int64(i)),
            self.m,
        )

    def gradients(self, results):
        roots = [t for t in [*results, *self.given, self.m.kept] if not t.stop_gradient]
        if roots:
            sum((t * t).sum() for t in roots).backward()
        return [t.grad.numpy() if t.grad is not None else np.zeros(t.shape, "float32") for t in self.roots]


NUMBERS_OF_CALLS = ((1.0, 2, 1), (-1.0, 3, -1), (2.0, 0, 0))


def outcome(f, seed, aliases, grad, calls=NUMBERS_OF_CALLS):
    """Of some calls on the same arguments: results, what the arguments and the buffer hold then; gradients at the end of each, on other
    arguments."""
    out = []
    world = World(seed, aliases, False)
    for numbers in calls:
        results = list(world.call(f, numbers))
        out.append(("values", [t.numpy() for t in [*results, *world.given, world.m.kept]]))
    if grad:
        for numbers in calls:
            world = World(seed, aliases, True)
            results = list(world.call(f, numbers))
            out.append(("values with gradients", [t.numpy() for t in [*results, *world.given, world.m.kept]]))
            out.append(("gradients", world.gradients(results)))
    return out


def differences(got, want):
    for call, ((what, a), (_, b)) in enumerate(zip(got, want)):
        for k, (x, y) in enumerate(zip(a, b)):
            if x.shape != y.shape or not np.allclose(x, y, rtol=2e-4, atol=2e-5, equal_nan=True):
                yield f"{what} of part {call}, item {k}: {x.tolist()} for {y.tolist()}"
