"""What cases of layers, optimisers and schedulers are written with: each helper gives one comparable value."""

import inspect
import os
import tempfile

import numpy as np
import paddle
from paddle import nn


def pattern(shape, offset=0.0, scale=1.0):
    """Numbers in [-scale, scale) that look random and are the same everywhere."""
    n = int(np.prod(shape))
    unit = np.modf(np.sin(np.arange(1, n + 1) * 12.9898 + 78.233 + offset) * 43758.5453)[0] % 1.0
    return (scale * (2 * unit - 1)).reshape(shape)


def fixed(layer, scale=0.5):
    """``layer``, its parameters overwritten with known numbers."""
    for i, (_, p) in enumerate(layer.named_parameters()):
        values = pattern(p.shape, i + 1, scale)
        p.set_value((np.abs(values) if p.name.endswith("_variance") or ".w_2" in p.name else values).astype(str(p.dtype).split(".")[-1]))
    return layer


def described(layer):
    """A layer's parameters (structured name, name, shape, dtype, trainable) and the keys of its state."""
    rows = [[k, p.name, list(p.shape), str(p.dtype), not p.stop_gradient] for k, p in layer.named_parameters()]
    return {"type": type(layer).__name__, "parameters": rows, "state": list(layer.state_dict())}


class Net(nn.Layer):
    """A network small enough to compare all of it."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
        self.b = nn.Sequential(nn.ReLU(), nn.BatchNorm1D(3))

    def forward(self, x):
        return self.b(self.a(x))


def _first(out):
    while isinstance(out, (list, tuple)):
        out = out[0]
    return out


def layer(made, *inputs, **keywords):
    """All that can be compared of a layer: ``described``, then with known weights its result, the gradients of its
    parameters and of its floating inputs, its buffers afterwards, and its result in evaluation."""
    answer = described(made)
    fixed(made)
    for x in inputs:
        if isinstance(x, paddle.Tensor) and x.is_floating_point():
            x.stop_gradient = False
    out = made(*inputs, **keywords)
    answer["out"] = out
    first = _first(out)
    if not first.stop_gradient:
        weight = paddle.to_tensor(np.cos(np.arange(first.size)).reshape(first.shape), dtype=first.dtype)
        (first * weight).sum().backward()
        answer["gradients"] = [p.grad for p in made.parameters()]
        answer["of inputs"] = [x.grad for x in inputs if isinstance(x, paddle.Tensor)]
    answer["buffers"] = list(made.named_buffers())
    made.eval()
    answer["evaluated"] = made(*inputs, **keywords)
    return answer


def parameter(values, name=None, **attributes):
    """A parameter that holds ``values``."""
    values = np.asarray(values, "float32")
    attr = paddle.ParamAttr(name=name, initializer=nn.initializer.Assign(values), **attributes)
    return paddle.create_parameter(list(values.shape), "float32", attr=attr)


def steps(make, count=3, parameters=None, between=None):
    """``make(parameters)`` an optimiser, and ``count`` steps of it: the parameters after each, the rates, and the state."""
    parameters = parameters or [parameter([[0.5, -1.0], [2.0, 0.25]], "w"), parameter([0.1, -0.2], "b")]
    optimizer = make(parameters)
    history = []
    for i in range(count):
        for k, p in enumerate(parameters):
            p.grad = None
            (p * paddle.to_tensor(pattern(p.shape, 10 * i + k).astype("float32"))).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        if between:
            between(optimizer)
        history.append([optimizer.get_lr(), *[p.clone().detach() for p in parameters]])
    return {"type": type(optimizer).__name__, "history": history, "state": state(optimizer)}


def state(optimizer):
    """An optimiser's state, sorted by key (the order is no promise)."""
    return dict(sorted((k, v) for k, v in optimizer.state_dict().items() if v is not None))


def rates(scheduler, count=8):
    """The rates that ``count`` steps give, and the state then."""
    seen = [scheduler()]
    for _ in range(count):
        scheduler.step()
        seen.append(scheduler.last_lr)
    return {"rates": [float(r) for r in seen], "state": dict(sorted(scheduler.state_dict().items()))}


def statistics(tensor, low=None, high=None):
    """What can be promised of random numbers: dtype, shape, whether they differ, and whether they keep to the bounds."""
    a = tensor.numpy().astype("float64")
    within = (low is None or a.min() >= low) and (high is None or a.max() <= high)
    return [str(tensor.dtype), list(tensor.shape), bool(within), len(np.unique(a)) > a.size // 2]


def spread(tensor, mean, std, tolerance=0.1):
    """Whether mean and standard deviation are near what they should be (relative to ``std``)."""
    a = tensor.numpy().astype("float64")
    return [bool(abs(a.mean() - mean) < tolerance * std), bool(abs(a.std() - std) < tolerance * std)]


def signature(function):
    """The parameters' names, defaults and kinds; a class's are its constructor's."""
    rows = []
    for p in inspect.signature(function).parameters.values():
        if p.name == "self":
            continue
        default = "-" if p.default is p.empty else p.default if isinstance(p.default, (int, float, str)) else str(p.default)
        rows.append([p.name, str(p.kind).split(".")[-1], default])
    return rows


class Offer(dict):
    """Names and kinds of which the other side may have more."""


def public(module, without=""):
    """A module's public names, but for those in ``without``, and what kind of thing each is."""
    kinds = Offer()
    for name in sorted(set(getattr(module, "__all__", dir(module))) - set(without.split())):
        found = getattr(module, name, None)
        kinds[name] = "module" if inspect.ismodule(found) else "callable" if callable(found) else type(found).__name__
    return kinds


def lacking(module, names):
    """Those of ``names`` that a module does not have."""
    return [n for n in names.split() if not hasattr(module, n)]


def shared(function, x):
    """Whether writing into the results of ``function`` reaches ``x``, and writing into ``x`` the results."""

    def results(t):
        out = function(t)
        return list(out) if isinstance(out, (list, tuple)) else [out]

    other, before = paddle.to_tensor(x.numpy()), x.numpy().copy()
    for y in results(x):
        y.add_(paddle.ones([], y.dtype))
    reached = not np.array_equal(before, x.numpy())
    seen = results(other)
    kept = [y.numpy().copy() for y in seen]
    other.add_(paddle.ones([], other.dtype))
    return [reached, [not np.array_equal(k, y.numpy()) for k, y in zip(kept, seen)]]


def folder():
    """A new folder, and in it the working directory."""
    path = tempfile.mkdtemp()
    os.chdir(path)
    return path


NAMES = (Net, pattern, fixed, described, layer, parameter, steps, state, rates, statistics, spread, signature, public, lacking,
         shared, folder)  # fmt: skip
