"""Gradients of every differentiable record against central differences in float64, first and second order."""

import numpy as np
import pytest
from samples import FLOATS, all_samples, arguments, outputs

paddle = pytest.importorskip("paddle")

EPS = 1e-6
SMOOTH = {"float64", "complex128"}
# Defined for symmetric matrices, of which one triangle is read: derivatives exist along symmetric directions.
SYMMETRIC = {"cholesky", "eigh", "eigvalsh"}


def needs_of(sample):
    """The tensors that get a gradient: those of the record that are floating-point here and not empty."""
    names = []
    for name in sample.row["differentiable"]:
        value = sample.values[name]
        arrays = value if isinstance(value, list) else [value]
        if sample.dtypes.get(name) in FLOATS and arrays and all(isinstance(a, np.ndarray) and a.size for a in arrays):
            names.append(name)
    accepted = all("float64" in sample.row["dtypes"][n] for n in names)
    return names if accepted else []


def differentiable(row):
    return row["differentiable"] and "first_order" not in row["exempt"] and (row["has_vjp"] or row["composition"])


CASES = [s for s in all_samples(differentiable) if needs_of(s) and not any("nan" in f for f in s.flags.values())]


def flat(x):
    return [t for item in x for t in (item if isinstance(item, list) else [item])]


class Case:
    """f: the inputs that get a gradient -> the sum of the outputs, weighted at random."""

    def __init__(self, sample):
        self.sample, self.names = sample, needs_of(sample)
        self.order = [a["name"] for a in sample.row["args"]]
        self.op = getattr(paddle._C_ops, sample.row["op"])
        self.rng = np.random.default_rng(7)
        self.weights = None
        self.base = [sample.values[n] for n in self.names]

    def inputs(self, step=None, size=0.0):
        """Fresh leaves, moved by size along the direction `step`."""
        old = dict(self.sample.values)
        try:
            for k, name in enumerate(self.names):
                value = self.base[k]
                lists = isinstance(value, list)
                arrays = [a.astype(np.float64) for a in (value if lists else [value])]
                if step is not None:
                    arrays = [np.asarray(a + size * d) for a, d in zip(arrays, step[k], strict=True)]
                self.sample.values[name] = arrays if lists else arrays[0]
            return arguments(paddle, self.sample, floats="float64", needs=set(self.names))
        finally:
            self.sample.values.update(old)

    def leaves(self, args):
        return flat([args[self.order.index(n)] for n in self.names])

    def direction(self):
        steps = [
            [np.asarray(self.rng.standard_normal(a.shape)) for a in (v if isinstance(v, list) else [v])]
            for v in self.base
        ]
        if self.sample.row["op"] in SYMMETRIC:
            steps = [[d + d.swapaxes(-1, -2) for d in step] for step in steps]
        return steps

    def loss(self, args):
        outs = [
            o for o in outputs(self.sample.row, self.op(*args)) if str(o.dtype).rsplit(".", maxsplit=1)[-1] in SMOOTH
        ]
        if len(outs) > 1:  # beside the result: statistics and the like, through which no gradient flows
            outs = [o for o in outs if not o.stop_gradient]
        if not outs:
            pytest.skip("no output that a gradient flows into")
        if self.weights is None:
            self.weights = [self.rng.standard_normal(o.shape) for o in outs]
        total = None
        for o, w in zip(outs, self.weights, strict=True):
            o = paddle._C_ops.real(o) if "complex" in str(o.dtype) else o
            term = (o.astype("float64") * paddle.to_tensor(np.asarray(w))).sum()
            total = term if total is None else total + term
        return total


def close(got, want, tolerance):
    assert abs(got - want) <= tolerance * max(1.0, abs(got), abs(want)), f"got {got}, expected {want}"


@pytest.mark.parametrize("sample", CASES, ids=lambda s: s.id)
def test_first_order(sample):
    case = Case(sample)
    args = case.inputs()
    grads = paddle.grad(case.loss(args), case.leaves(args), allow_unused=True)
    step = case.direction()
    got = sum(float((g.numpy() * d).sum()) for g, d in zip(grads, flat(step), strict=True) if g is not None)
    plus, minus = (float(case.loss(case.inputs(step, s * EPS))) for s in (1, -1))
    close(got, (plus - minus) / (2 * EPS), 2e-6)


@pytest.mark.parametrize(
    "sample", [s for s in CASES if s.index < 2 and "second_order" not in s.row["exempt"]], ids=lambda s: s.id
)
def test_second_order(sample):
    case = Case(sample)
    step, other = case.direction(), case.direction()

    def slope(args, create_graph=False):
        leaves = case.leaves(args)
        grads = paddle.grad(case.loss(args), leaves, create_graph=create_graph, allow_unused=True)
        total = None
        for g, d in zip(grads, flat(step), strict=True):
            if g is not None:
                term = (g * paddle.to_tensor(np.asarray(d))).sum()
                total = term if total is None else total + term
        return total, leaves

    total, leaves = slope(case.inputs(), create_graph=True)
    if total is None:
        pytest.skip("no gradient at all")
    second = [None] * len(leaves)
    if not total.stop_gradient:
        second = paddle.grad(total, leaves, allow_unused=True)
    got = sum(float((g.numpy() * d).sum()) for g, d in zip(second, flat(other), strict=True) if g is not None)
    plus, minus = (float(slope(case.inputs(other, s * EPS))[0]) for s in (1, -1))
    close(got, (plus - minus) / (2 * EPS), 2e-5)
