"""Evaluates the cases of one file under the interpreter that runs this, and writes what came out as JSON.

    PYTHON worker.py CASES.py RESULTS.json

CASES.py sets ``CASES``, a list of Python expressions (or of programs that end with one), or such lists by the public name
that they are about; ``DIFFERS`` has further ones by the reason why ours is meant to answer otherwise. Each is evaluated by itself, with the names of ``scope()``; an exception is a result like any other.
"""

import ast
import json
import linecache
import os
import re
import signal
import sys

import numpy as np

PATIENCE = int(os.environ.get("PATIENCE", 60))  # seconds a case may take


def scope():
    """What expressions may use besides paddle, np, F and nn."""
    import paddle
    import paddle.nn.functional as F  # noqa: N812
    from paddle import nn

    def tensor(data, dtype=None, grad=False):
        """T(data, dtype): a tensor."""
        return paddle.to_tensor(data, dtype=dtype, stop_gradient=not grad)

    def numbers(shape, dtype="float32", low=-2.0, high=2.0, grad=False):
        """R(shape, dtype): numbers that look random and are the same everywhere."""
        n = int(np.prod(shape))
        unit = np.modf(np.sin(np.arange(1, n + 1) * 12.9898 + 78.233) * 43758.5453)[0] % 1.0
        values = (low + (high - low) * unit).reshape(shape)
        if dtype == "bool":
            values = values > (low + high) / 2
        elif dtype.startswith("complex"):
            values = values + 1j * values[..., ::-1] if values.ndim else values + 0.5j
        elif "int" in dtype:
            values = np.floor(values)
            values = np.abs(values) if dtype.startswith("u") else values
        if dtype == "bfloat16":
            return paddle.to_tensor(values.astype("float32"), stop_gradient=not grad).astype("bfloat16")
        return paddle.to_tensor(values.astype(dtype), stop_gradient=not grad)

    def gradients(function, *tensors):
        """grads(f, x, ...): f's value, and the gradients of its sum (weighted, so that they differ)."""
        for t in tensors:
            t.stop_gradient = False
        out = function(*tensors)
        first = out[0] if isinstance(out, (list, tuple)) else out
        weight = paddle.to_tensor(np.cos(np.arange(int(np.prod(first.shape)))).reshape(first.shape), dtype=first.dtype)
        (first * weight).sum().backward()
        return [out, *[t.grad for t in tensors]]

    def after(x, *actions):
        """after(x, f, ...): x once each f(x) has run, for calls that change it."""
        for f in actions:
            f(x)
        return x

    import helpers

    return {
        "paddle": paddle, "np": np, "F": F, "nn": nn, "T": tensor, "R": numbers, "grads": gradients, "after": after,
        **{f.__name__: f for f in helpers.NAMES},
    }  # fmt: skip


def plain(value, paddle):
    """A result as JSON: kind, dtype, shape, stop_gradient and elements."""
    if isinstance(value, paddle.Tensor):
        dtype = str(value.dtype).split(".")[-1]
        array = np.asarray((value.astype("float32") if dtype == "bfloat16" else value).numpy())
        return ["tensor", dtype, list(value.shape), bool(value.stop_gradient), elements(array)]
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        return ["array", str(array.dtype), list(array.shape), None, elements(array)]
    if isinstance(value, (list, tuple)):
        return ["tuple" if isinstance(value, tuple) else "list", [plain(v, paddle) for v in value]]
    if isinstance(value, dict):
        return ["offer" if type(value).__name__ == "Offer" else "dict", [[str(k), plain(v, paddle)] for k, v in value.items()]]
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return ["value", value if type(value) in (bool, type(None)) else str(value) if isinstance(value, str) else int(str(value))]
    if isinstance(value, float):
        return ["value", repr(value)]
    return ["value", re.sub(r" at 0x[0-9a-f]+", "", str(value))[:200]]


def elements(array):
    flat = array.reshape(-1)
    if np.iscomplexobj(flat):
        flat = np.stack([flat.real, flat.imag], -1).reshape(-1)
    if flat.dtype == np.bool_ or np.issubdtype(flat.dtype, np.integer):
        return [int(v) for v in flat]
    return [v if v == v and abs(v) != float("inf") else str(v) for v in (float(f"{x:.9g}") for x in flat.astype(float))]


def run(source, names):
    """The value of an expression, or of the expression that a program ends with."""
    linecache.cache["<case>"] = (len(source), None, source.splitlines(True), "<case>")  # for those that read their source
    body = ast.parse(source).body
    exec(compile(ast.Module(body[:-1], []), "<case>", "exec"), names)
    return eval(compile(ast.Expression(body[-1].value), "<case>", "eval"), names)


def read(path):
    """A file's cases by the public name they are about ("" where the file doesn't say), and why some differ."""
    import runpy

    found = runpy.run_path(str(path))
    cases = found["CASES"] if isinstance(found["CASES"], dict) else {"": found["CASES"]}
    by_name, reasons = {name: list(some) for name, some in cases.items()}, {}
    for reason, named in found.get("DIFFERS", {}).items():
        for name, some in named.items():
            by_name.setdefault(name, []).extend(some)
            reasons.update(dict.fromkeys(some, reason))
    return by_name, reasons


def evaluate(expression, names, paddle):
    paddle.seed(0)
    np.random.seed(0)
    try:
        return ["ok", plain(run(expression, dict(names)), paddle)]
    except Exception as e:
        return ["error", type(e).__name__, [c.__name__ for c in type(e).__mro__]]


def isolated(expression, names, paddle, again=True):
    """``evaluate`` in a forked child: a crash is a result as well, and so is waiting for ever. One that ran out of time is
    asked once more: this process may have been stopped meanwhile."""
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        with os.fdopen(w, "w") as f:
            f.write(json.dumps(evaluate(expression, names, paddle)))
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        text = f.read()
    status = os.waitpid(child, 0)[1]
    if not text and again and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        return isolated(expression, names, paddle, False)
    return json.loads(text) if text else ["crash"]


def main(cases, out):
    import warnings

    import paddle

    warnings.simplefilter("ignore")
    names = scope()
    expressions = dict.fromkeys(e for some in read(cases)[0].values() for e in some)
    results = {e: isolated(e, names, paddle) for e in expressions}
    with open(out, "w") as f:
        f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in results.items()) + "\n}\n")


if __name__ == "__main__":
    main(*sys.argv[1:3])
