"""The composed cases: each is one function of arrays, written once for every framework over a small table of operators.

`build(framework, case)` gives (step, check): one compiled call, and a number that must agree between frameworks.
"""

import numpy as np


class Operators:
    """What the cases need, under one name each; arrays in, arrays out, float32."""

    def __init__(self, framework):
        self.framework = framework
        getattr(self, "_" + framework)()

    def _paddle(self):
        import paddle

        paddle.set_device("cpu")
        self.sum = lambda x, axes: paddle.sum(x, axis=axes, keepdim=True)
        self.max = lambda x, axes: paddle.max(x, axis=axes, keepdim=True)
        self.exp, self.rsqrt, self.sigmoid = paddle.exp, paddle.rsqrt, paddle.nn.functional.sigmoid
        self.reshape = lambda x, shape: paddle.reshape(x, shape)
        self.array = paddle.to_tensor
        self.number = lambda y: float(paddle.mean(paddle.abs(y)))

        def compiled(f):
            program = paddle.jit.to_static(f, full_graph=True)

            def run(*args):
                with paddle.no_grad():
                    return program(*args)

            return run

        self.compiled = compiled

    def _torch(self):
        import os

        import torch

        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
        self.sum = lambda x, axes: torch.sum(x, dim=axes, keepdim=True)
        self.max = lambda x, axes: torch.amax(x, dim=axes, keepdim=True)
        self.exp, self.rsqrt, self.sigmoid = torch.exp, torch.rsqrt, torch.sigmoid
        self.reshape = lambda x, shape: torch.reshape(x, shape)
        self.array = torch.from_numpy
        self.number = lambda y: float(y.abs().mean())

        def compiled(f):
            program = torch.compile(f)

            def run(*args):
                with torch.no_grad():
                    return program(*args)

            return run

        self.compiled = compiled

    def _jax(self):
        import jax
        import jax.numpy as jnp

        self.sum = lambda x, axes: jnp.sum(x, axis=tuple(axes), keepdims=True)
        self.max = lambda x, axes: jnp.max(x, axis=tuple(axes), keepdims=True)
        self.exp, self.rsqrt, self.sigmoid = jnp.exp, jax.lax.rsqrt, jax.nn.sigmoid
        self.reshape, self.array = jnp.reshape, jnp.asarray
        self.number = lambda y: float(jnp.abs(y).mean())

        def compiled(f):
            program = jax.jit(f)
            return lambda *args: program(*args).block_until_ready()

        self.compiled = compiled


def few_long_rows(o):
    return lambda x: o.sum(x * x, [1])


def columns(o):
    return lambda x: o.sum(x * x, [0])


def masked_softmax(o):
    def f(x, mask):
        y = x * 0.125 + mask
        e = o.exp(y - o.max(y, [3]))
        return e / o.sum(e, [3])

    return f


def group_norm_silu(o):
    def f(x, weight, bias):
        n, channels, height, width = 8, 64, 128, 128
        count = channels // 8 * height * width
        g = o.reshape(x, [n, 8, channels // 8, height, width])
        centred = g - o.sum(g, [2, 3, 4]) / count
        variance = o.sum(centred * centred, [2, 3, 4]) / count
        y = o.reshape(centred * o.rsqrt(variance + 1e-5), [n, channels, height, width]) * weight + bias
        return y * o.sigmoid(y)

    return f


def variance(axes, count):
    def case(o):
        def f(x):
            centred = x - o.sum(x, axes) / count
            return o.sum(centred * centred, axes) / count

        return f

    return case


def _random(*shape):
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def _mask(*shape):
    return np.where(np.random.default_rng(1).random(shape) < 0.9, 0, -1e9).astype(np.float32)


CASES = {
    "few_long_rows": (few_long_rows, lambda: [_random(4, 1 << 23)]),
    "columns": (columns, lambda: [_random(4096, 2048)]),
    "masked_softmax": (masked_softmax, lambda: [_random(64, 12, 512, 512), _mask(64, 1, 1, 512)]),
    "group_norm_silu": (group_norm_silu, lambda: [_random(8, 64, 128, 128), _random(1, 64, 1, 1), _random(1, 64, 1, 1)]),
    "variance_rows": (variance([1], 2048), lambda: [_random(4096, 2048)]),
    "variance_all": (variance([0, 1], 4096 * 2048), lambda: [_random(4096, 2048)]),
}


def build(framework, case):
    function, inputs = CASES[case]
    o = Operators(framework)
    arrays = [o.array(a) for a in inputs()]
    program = o.compiled(function(o))
    return lambda: program(*arrays), o.number
