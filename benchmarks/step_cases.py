"""Training steps of a small perceptron (32 rows, three layers of 32), and what `composed.py --set step_cases` asks for.

`sgd` and `adam`: loss, backward and optimiser compiled as one program where the framework can do so (paddle's to_static, jax.jit);
torch compiles the network and takes its fused optimiser. `net_sgd`, `net_adam`: only the network is compiled; `eager_sgd`, `eager_adam`:
nothing is. One call is STEPS steps; the check value is the loss of the tenth.
"""

import numpy as np

STEPS, RATE, SIZES = 20, 0.01, [32, 32, 32, 32]
PER_CALL = STEPS  # times are given by step


def parameters():
    rng = np.random.RandomState(7)
    made = []
    for i, o in zip(SIZES[:-1], SIZES[1:]):
        made.append(((rng.randn(i, o) / i**0.5).astype("float32"), (rng.randn(o) * 0.1).astype("float32")))
    return made


def batch():
    rng = np.random.RandomState(8)
    return rng.randn(32, 32).astype("float32"), rng.randn(32, 32).astype("float32")


def paddle_step(what, optimiser):
    import paddle
    import paddle.nn.functional as F

    class Perceptron(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.layers = paddle.nn.LayerList([paddle.nn.Linear(i, o) for i, o in zip(SIZES[:-1], SIZES[1:])])
            for layer, (w, b) in zip(self.layers, parameters()):
                layer.weight.set_value(paddle.to_tensor(w))
                layer.bias.set_value(paddle.to_tensor(b))

        def forward(self, x):
            last = len(self.layers) - 1
            for i, layer in enumerate(self.layers):
                x = layer(x) if i == last else F.relu(layer(x))
            return x

    model = Perceptron()
    make = paddle.optimizer.SGD if optimiser == "sgd" else paddle.optimizer.Adam
    opt = make(learning_rate=RATE, parameters=model.parameters())
    net = paddle.jit.to_static(model) if what == "net" else model

    def step(x, y):
        loss = F.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    if what == "whole":
        step = paddle.jit.to_static(step, full_graph=True)
    x, y = map(paddle.to_tensor, batch())
    return lambda: step(x, y), lambda: None


def torch_step(what, optimiser):
    import torch

    torch.set_num_threads(1)
    layers = []
    for w, b in parameters():
        layer = torch.nn.Linear(*w.shape)
        layer.weight.data, layer.bias.data = torch.tensor(w.T.copy()), torch.tensor(b)
        layers += [layer, torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    make = torch.optim.SGD if optimiser == "sgd" else torch.optim.Adam
    opt = make(model.parameters(), lr=RATE, fused=what == "whole" or None)
    net = model if what == "eager" else torch.compile(model)
    x, y = map(torch.tensor, batch())

    def step():
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        opt.zero_grad()
        return loss

    return step, lambda: None


def jax_step(what, optimiser):
    import jax
    import jax.numpy as jnp

    if what != "whole":
        raise NotImplementedError
    tree = jax.tree.map

    def loss_of(ps, x, y):
        for w, b in ps[:-1]:
            x = jax.nn.relu(x @ w + b)
        return jnp.mean((x @ ps[-1][0] + ps[-1][1] - y) ** 2)

    def sgd(state, x, y):
        loss, g = jax.value_and_grad(loss_of)(state[0], x, y)
        return (tree(lambda p, g: p - RATE * g, state[0], g),), loss

    def adam(state, x, y):
        p, m, s, t = state
        loss, g = jax.value_and_grad(loss_of)(p, x, y)
        t = t + 1
        m = tree(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        s = tree(lambda s, g: 0.999 * s + 0.001 * g * g, s, g)
        c, d = 1 - 0.9**t, 1 - 0.999**t
        return (tree(lambda p, m, s: p - RATE * (m / c) / (jnp.sqrt(s / d) + 1e-8), p, m, s), m, s, t), loss

    p = [(jnp.asarray(w), jnp.asarray(b)) for w, b in parameters()]
    zeros = lambda: tree(jnp.zeros_like, p)  # noqa: E731
    state = [(p,) if optimiser == "sgd" else (p, zeros(), zeros(), jnp.float32(0))]
    program = jax.jit(sgd if optimiser == "sgd" else adam, donate_argnums=0)
    x, y = map(jnp.asarray, batch())

    def step():
        state[0], loss = program(state[0], x, y)
        return loss

    return step, lambda: jax.block_until_ready(state[0])


CASES = ["sgd", "adam", "net_sgd", "net_adam", "eager_sgd", "eager_adam"]


def build(framework, case):
    what, _, optimiser = case.rpartition("_")
    one, wait = globals()[f"{framework}_step"](what or "whole", optimiser)
    for _ in range(9):
        one()
    tenth = float(one())

    def call():
        for _ in range(STEPS):
            one()
        wait()
        return tenth

    return call, float
