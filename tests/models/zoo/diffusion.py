"""Denoising diffusion."""

import math

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


def timestep_embedding(t, dim):
    half = dim // 2
    frequencies = paddle.exp(-math.log(10000.0) * paddle.arange(half, dtype="float32") / half)
    angles = t.astype("float32").unsqueeze(-1) * frequencies.unsqueeze(0)
    return paddle.concat([paddle.sin(angles), paddle.cos(angles)], axis=-1)


class ResidualBlock(nn.Layer):
    def __init__(self, cin, cout, time):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(4, cin), nn.GroupNorm(4, cout)
        self.conv1, self.conv2 = nn.Conv2D(cin, cout, 3, padding=1), nn.Conv2D(cout, cout, 3, padding=1)
        self.time = nn.Linear(time, 2 * cout)
        self.skip = nn.Conv2D(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, emb):
        h = self.conv1(F.silu(self.norm1(x)))
        scale, shift = paddle.chunk(self.time(F.silu(emb)).unsqueeze([-1, -1]), 2, axis=1)
        h = self.conv2(F.silu(self.norm2(h) * (1 + scale) + shift))
        return self.skip(x) + h


class AttentionBlock(nn.Layer):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.GroupNorm(4, channels)
        self.qkv = nn.Conv1D(channels, 3 * channels, 1)
        self.proj = nn.Conv1D(channels, channels, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        y = self.norm(x).reshape([b, c, h * w])
        q, k, v = self.qkv(y).chunk(3, axis=1)
        weights = F.softmax(paddle.einsum("bct,bcs->bts", q, k) / math.sqrt(c), axis=-1)
        y = paddle.einsum("bts,bcs->bct", weights, v)
        return x + self.proj(y).reshape([b, c, h, w])


class NoiseNet(nn.Layer):
    def __init__(self, channels=8, time=16):
        super().__init__()
        self.time = time
        self.embed = nn.Sequential(nn.Linear(time, time * 2), nn.Silu(), nn.Linear(time * 2, time * 2))
        self.input = nn.Conv2D(1, channels, 3, padding=1)
        self.down = ResidualBlock(channels, channels, time * 2)
        self.middle = ResidualBlock(channels, 2 * channels, time * 2)
        self.attention = AttentionBlock(2 * channels)
        self.up = ResidualBlock(3 * channels, channels, time * 2)
        self.out = nn.Conv2D(channels, 1, 3, padding=1)

    def forward(self, x, t):
        emb = self.embed(timestep_embedding(t, self.time))
        h1 = self.down(self.input(x), emb)
        h2 = self.attention(self.middle(F.avg_pool2d(h1, 2), emb))
        h2 = F.interpolate(h2, scale_factor=2, mode="nearest")
        return self.out(self.up(paddle.concat([h1, h2], axis=1), emb))


@model("diffusion_unet", lambda n, draw: [draw.image(n, 1, 16, 16), draw.tokens(50, n)])
class DiffusionUNet(nn.Layer):
    """U-Net with time embedding, group norms with scale and shift, attention in the middle."""

    def __init__(self):
        super().__init__()
        self.net = NoiseNet()

    def forward(self, x, t):
        return self.net(x, t)


class Schedule(nn.Layer):
    def __init__(self, steps=50):
        super().__init__()
        self.net = NoiseNet()
        betas = paddle.linspace(1e-4, 0.02, steps)
        self.register_buffer("alphas", paddle.cumprod(1.0 - betas, dim=0))
        self.steps = steps


@model(
    "ddim",
    lambda n, draw: [draw.image(n, 1, 16, 16)],
    tolerance=5e-5,
    why="a division by the square root of a small alpha at each of five steps",
)
class DDIM(Schedule):
    """Deterministic sampling over a descending range of steps; the batch size is open."""

    def forward(self, x):
        stride = 10
        for i in range(self.steps - 1, 0, -stride):
            t = paddle.full([x.shape[0]], i, dtype="int64")
            noise = self.net(x, t)
            a = self.alphas[i]
            b = self.alphas[i - stride] if i >= stride else paddle.to_tensor(1.0)
            x0 = ((x - (1 - a).sqrt() * noise) / a.sqrt()).clip(-1, 1)
            x = b.sqrt() * x0 + (1 - b).sqrt() * noise
        return x


@model("ddim_adaptive", lambda n, draw: [draw.image(n, 1, 16, 16)])
class AdaptiveDDIM(Schedule):
    """Steps chosen while running: large while the estimate is stable, small otherwise; a while loop with an else branch."""

    def forward(self, x):
        t = paddle.to_tensor(49, dtype="int64")
        previous = paddle.zeros_like(x)
        calls = 0
        while t > 0:
            noise = self.net(x, t.expand([x.shape[0]]))
            a = self.alphas[t]
            x0 = (x - (1 - a).sqrt() * noise) / a.sqrt()
            change = (x0 - previous).abs().mean()
            if change > 0.5:
                step = 8
            else:
                step = 16
            t = paddle.maximum(t - step, paddle.zeros_like(t))
            b = self.alphas[t]
            x = b.sqrt() * x0 + (1 - b).sqrt() * noise
            previous = x0
            calls = calls + 1
        return x, calls
