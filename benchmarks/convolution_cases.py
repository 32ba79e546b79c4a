"""Convolutions in compiled inference, for `composed.py --set convolution_cases`: the weights are constants, nothing is recorded.

A peer called `torch` compiles with freezing, one called `torch-eager` doesn't compile.
"""

import numpy as np

CASES = {  # input, filters, width of the filter
    "3x3": ((8, 64, 56, 56), 64, 3),
    "3x3_relu": ((8, 64, 56, 56), 64, 3),
    "3x3_128": ((8, 128, 28, 28), 128, 3),
    "3x3_one": ((1, 64, 56, 56), 64, 3),
    "1x1": ((8, 64, 56, 56), 256, 1),
}


def data(case):
    shape, filters, width = CASES[case]
    rng = np.random.RandomState(11)
    return rng.randn(*shape).astype("float32"), (rng.randn(filters, shape[1], width, width) * 0.05).astype("float32")


def paddle_case(case, _):
    import paddle

    x, w = data(case)

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.conv = paddle.nn.Conv2D(w.shape[1], w.shape[0], w.shape[2], padding=w.shape[2] // 2, bias_attr=False)
            self.conv.weight.set_value(paddle.to_tensor(w))

        def forward(self, x):
            y = self.conv(x)
            return paddle.nn.functional.relu(y) if case.endswith("relu") else y

    net = Net()
    net.eval()
    program, x = paddle.jit.to_static(net, full_graph=True), paddle.to_tensor(x)

    def call():
        with paddle.no_grad():
            return program(x)

    return call, lambda y: float(y.abs().mean())


def torch_case(case, eager):
    import os

    import torch

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    torch._inductor.config.freezing = True
    x, w = map(torch.tensor, data(case))
    conv = torch.nn.Conv2d(w.shape[1], w.shape[0], w.shape[2], padding=w.shape[2] // 2, bias=False)
    conv.weight.data = w
    net = torch.nn.Sequential(conv, torch.nn.ReLU()) if case.endswith("relu") else torch.nn.Sequential(conv)
    net.eval()
    program = net if eager else torch.compile(net)

    def call():
        with torch.no_grad():
            return program(x)

    return call, lambda y: float(y.abs().mean())


def jax_case(case, _):
    import jax
    import jax.numpy as jnp

    x, w = map(jnp.asarray, data(case))

    @jax.jit
    def program(x):
        y = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
        return jax.nn.relu(y) if case.endswith("relu") else y

    return lambda: program(x).block_until_ready(), lambda y: float(jnp.abs(y).mean())


def build(framework, case):
    framework, _, how = framework.partition("-")
    return globals()[f"{framework}_case"](case, how == "eager")
