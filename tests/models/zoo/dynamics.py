"""Solvers, filters, fixed points."""

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


@model("neural_ode", lambda n, draw: [draw.image(n, 4)], tolerance=2e-5, why="steps of a solver")
class NeuralODE(nn.Layer):
    """Adaptive steps (Bogacki-Shampine): accepted or refused while running, in a while loop."""

    def __init__(self, size=4, hidden=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(size, hidden), nn.Tanh(), nn.Linear(hidden, size))

    def forward(self, y):
        t = paddle.zeros([])
        h = paddle.full([], 0.3)
        steps = paddle.zeros([], dtype="int32")
        while t < 1.0:
            h = paddle.minimum(h, 1.0 - t)
            k1 = self.net(y)
            k2 = self.net(y + h / 2 * k1)
            k3 = self.net(y + 0.75 * h * k2)
            new = y + h * (2.0 / 9 * k1 + 1.0 / 3 * k2 + 4.0 / 9 * k3)
            k4 = self.net(new)
            low = y + h * (7.0 / 24 * k1 + 0.25 * k2 + 1.0 / 3 * k3 + 0.125 * k4)
            error = (new - low).abs().max()
            steps += 1
            if error < 1e-3 or h < 0.05:
                t = t + h
                y = new
            else:
                h = h * 0.5
                continue
            if error < 1e-4:
                h = h * 2
        return y, steps


@model("deep_equilibrium", lambda n, draw: [draw.image(n, 8)])
class DeepEquilibrium(nn.Layer):
    """A fixed point by iteration, then one step that carries the gradient."""

    def __init__(self, size=8, hidden=16):
        super().__init__()
        self.inject = nn.Linear(size, hidden)
        self.w = nn.Linear(hidden, hidden, weight_attr=nn.initializer.Uniform(-0.15, 0.15))
        self.out = nn.Linear(hidden, 3)

    def cell(self, z, x):
        return paddle.tanh(self.w(z) + x)

    def forward(self, x):
        x = self.inject(x)
        z = paddle.zeros_like(x)
        i = 0
        with paddle.no_grad():
            residual = paddle.to_tensor(1.0)
            while residual > 1e-3 and i < 30:
                new = self.cell(z, x)
                residual = (new - z).abs().max()
                z = new
                i += 1
        z = self.cell(z, x)
        return self.out(z), paddle.to_tensor(i)


@model("kalman_filter", lambda n, draw: [draw.image(n, 6, 2)])
class KalmanFilter(nn.Layer):
    """Predict and update with small matrices, inverses, learned noises."""

    def __init__(self, size=4, seen=2):
        super().__init__()
        transition = paddle.eye(size)
        transition[:2, 2:] = paddle.eye(2) * 0.1
        self.f = self.create_parameter([size, size], default_initializer=nn.initializer.Assign(transition))
        self.register_buffer("h", paddle.eye(seen, size))
        self.q = self.create_parameter([size], default_initializer=nn.initializer.Constant(-2.0))
        self.r = self.create_parameter([seen], default_initializer=nn.initializer.Constant(-1.0))
        self.size = size

    def forward(self, observations):
        batch = observations.shape[0]
        q, r = paddle.diag(paddle.exp(self.q)), paddle.diag(paddle.exp(self.r))
        x = paddle.zeros([batch, self.size, 1])
        p = paddle.eye(self.size).unsqueeze(0).expand([batch, self.size, self.size])
        states = []
        for t in range(observations.shape[1]):
            x = self.f @ x
            p = self.f @ p @ self.f.t() + q
            innovation = observations[:, t].unsqueeze(-1) - self.h @ x
            s = self.h @ p @ self.h.t() + r
            gain = p @ self.h.t() @ paddle.linalg.inv(s)
            x = x + gain @ innovation
            p = (paddle.eye(self.size) - gain @ self.h) @ p
            states.append(x.squeeze(-1))
        return paddle.stack(states, axis=1), p


@model("pinn", lambda n, draw: [draw.uniform32(4 * n, 1), draw.uniform32(4 * n, 1)], tolerance=5e-5, why="second derivatives", differentiates=True)
class PINN(nn.Layer):
    """Residual of Burgers' equation: derivatives by paddle.grad inside forward."""

    def __init__(self, hidden=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1)
        )

    def forward(self, x, t):
        x.stop_gradient = False
        t.stop_gradient = False
        u = self.net(paddle.concat([x, t], axis=-1))
        u_x, u_t = paddle.grad(u, [x, t], grad_outputs=paddle.ones_like(u), create_graph=True)
        u_xx = paddle.grad(u_x.sum(), x, create_graph=True)[0]
        return u, u_t + u * u_x - 0.01 * u_xx


@model("hamiltonian", lambda n, draw: [draw.image(n, 4)], tolerance=2e-5, why="steps of a solver", differentiates=True)
class Hamiltonian(nn.Layer):
    """Leapfrog by the gradient of a learned energy."""

    def __init__(self, size=2, hidden=16):
        super().__init__()
        self.size = size
        self.energy = nn.Sequential(nn.Linear(2 * size, hidden), nn.Softplus(), nn.Linear(hidden, 1))

    def field(self, state):
        g = paddle.grad(self.energy(state).sum(), state, create_graph=True)[0]
        return paddle.concat([g[:, self.size :], -g[:, : self.size]], axis=-1)

    def forward(self, state):
        state.stop_gradient = False
        path = [state]
        for _ in range(3):
            middle = state + 0.05 * self.field(state)
            state = state + 0.1 * self.field(middle)
            path.append(state)
        return paddle.stack(path, axis=1)


@model("newton_solver", lambda n, draw: [draw.uniform32(n, 3) + 0.5], trains=False, why="an iteration to rounding")
class NewtonLayer(nn.Layer):
    """Newton's iteration for an implicit layer; ends by return from within the loop."""

    def __init__(self, size=3):
        super().__init__()
        self.a = self.create_parameter([size], default_initializer=nn.initializer.Uniform(0.5, 1.5))

    def forward(self, x):
        y = paddle.ones_like(x)
        for k in range(20):
            value = y**3 + self.a * y - x
            if value.abs().max() < 1e-4:
                return y, paddle.full([], k, dtype="int64")
            y = y - value / (3 * y**2 + self.a)
        return y, paddle.full([], 20, dtype="int64")


@model("mamba", lambda n, draw: [draw.image(n, 7, 12)])
class Mamba(nn.Layer):
    """Selective state space: discretised per token, scanned in a loop, gated."""

    def __init__(self, dim=12, state=4):
        super().__init__()
        inner = 2 * dim
        self.norm = nn.LayerNorm(dim)
        self.input = nn.Linear(dim, 2 * inner, bias_attr=False)
        self.conv = nn.Conv1D(inner, inner, 3, padding=2, groups=inner)
        self.bc, self.dt = nn.Linear(inner, 2 * state), nn.Linear(inner, inner)
        a = paddle.arange(1, state + 1, dtype="float32").unsqueeze(0).tile([inner, 1]).log()
        self.a = self.create_parameter([inner, state], default_initializer=nn.initializer.Assign(a))
        self.d = self.create_parameter([inner], default_initializer=nn.initializer.Constant(1.0))
        self.out = nn.Linear(inner, dim, bias_attr=False)

    def forward(self, x):
        n = x.shape[1]
        u, z = self.input(self.norm(x)).chunk(2, axis=-1)
        u = F.silu(self.conv(u.transpose([0, 2, 1]))[:, :, :n].transpose([0, 2, 1]))
        b, c = self.bc(u).chunk(2, axis=-1)
        dt = F.softplus(self.dt(u))
        da = paddle.exp(dt.unsqueeze(-1) * -paddle.exp(self.a))
        db = dt.unsqueeze(-1) * b.unsqueeze(2) * u.unsqueeze(-1)
        h = paddle.zeros_like(da[:, 0])
        ys = []
        for t in range(n):
            h = da[:, t] * h + db[:, t]
            ys.append((h * c[:, t].unsqueeze(1)).sum(-1))
        y = paddle.stack(ys, axis=1) + u * self.d
        return x + self.out(y * F.silu(z))
