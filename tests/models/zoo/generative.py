"""Autoencoders, flows, generators."""

import math

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


@model("autoencoder", lambda n, draw: [draw.image(n, 1, 16, 16)])
class AutoEncoder(nn.Layer):
    """Convolutions down, transposed convolutions up."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2D(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2D(8, 16, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(256, 8)
        )
        self.expand = nn.Linear(8, 256)
        self.decoder = nn.Sequential(
            nn.Conv2DTranspose(16, 8, 4, 2, 1), nn.BatchNorm2D(8), nn.ReLU(), nn.Conv2DTranspose(8, 1, 4, 2, 1)
        )

    def forward(self, x):
        code = self.encoder(x)
        y = F.relu(self.expand(code)).reshape([-1, 16, 4, 4])
        return F.sigmoid(self.decoder(y)), code


@model("vae", lambda n, draw: [draw.uniform32(n, 64)])
class VAE(nn.Layer):
    """Reparametrised samples in training, the mean otherwise; a dict with the loss."""

    def __init__(self, size=64, hidden=32, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(size, hidden), nn.Tanh())
        self.mu, self.log_var = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.Tanh(), nn.Linear(hidden, size))

    def reparameterize(self, mu, log_var):
        if self.training:
            std = paddle.exp(0.5 * log_var)
            return mu + std * paddle.randn(std.shape)
        return mu

    def forward(self, x):
        h = self.encoder(x)
        mu, log_var = self.mu(h), self.log_var(h)
        logits = self.decoder(self.reparameterize(mu, log_var))
        reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(-1).mean()
        kl = -0.5 * (1 + log_var - mu.pow(2) - log_var.exp()).sum(-1).mean()
        return {"loss": reconstruction + kl, "image": F.sigmoid(logits), "mu": mu}


@model("vq_vae", lambda n, draw: [draw.image(n, 1, 16, 16)])
class VQVAE(nn.Layer):
    """Nearest codes by distance, straight-through gradient, commitment loss."""

    def __init__(self, dim=8, codes=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2D(1, 16, 4, 2, 1), nn.ReLU(), nn.Conv2D(16, dim, 4, 2, 1))
        self.codebook = nn.Embedding(codes, dim, weight_attr=nn.initializer.Uniform(-1.0, 1.0))
        self.decoder = nn.Sequential(nn.Conv2DTranspose(dim, 16, 4, 2, 1), nn.ReLU(), nn.Conv2DTranspose(16, 1, 4, 2, 1))

    def forward(self, x):
        z = self.encoder(x).transpose([0, 2, 3, 1])
        flat = z.reshape([-1, z.shape[-1]])
        e = self.codebook.weight
        distance = (flat**2).sum(1, keepdim=True) - 2 * paddle.matmul(flat, e, transpose_y=True) + (e**2).sum(1)
        index = paddle.argmin(distance, axis=1)
        q = self.codebook(index).reshape(z.shape)
        loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        q = z + (q - z).detach()
        return self.decoder(q.transpose([0, 3, 1, 2])), loss, index.reshape(z.shape[:3])


class Coupling(nn.Layer):
    def __init__(self, size, hidden, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(size // 2, hidden), nn.ReLU(), nn.Linear(hidden, size))

    def forward(self, x):
        a, b = paddle.split(x, 2, axis=-1)
        if self.flip:
            a, b = b, a
        scale, shift = self.net(a).chunk(2, axis=-1)
        scale = paddle.tanh(scale)
        b = b * paddle.exp(scale) + shift
        parts = (b, a) if self.flip else (a, b)
        return paddle.concat(parts, axis=-1), scale.sum(-1)


@model("real_nvp", lambda n, draw: [draw.image(n, 8)])
class RealNVP(nn.Layer):
    """Affine couplings; log-density of the input."""

    def __init__(self, size=8, layers=4):
        super().__init__()
        self.layers = nn.LayerList([Coupling(size, 24, bool(i % 2)) for i in range(layers)])

    def forward(self, x):
        log_det = 0
        for layer in self.layers:
            x, d = layer(x)
            log_det += d
        prior = -0.5 * (x**2 + math.log(2 * math.pi)).sum(-1)
        return x, prior + log_det


@model("gan_generator", lambda n, draw: [draw.image(n, 16), draw.tokens(10, n)])
class Generator(nn.Layer):
    """Class-conditional batch norm, upsampling, spectral norm in the discriminator that scores the result."""

    def __init__(self, latent=16, classes=10):
        super().__init__()
        self.fc = nn.Linear(latent, 16 * 16)
        self.label = nn.Embedding(classes, 32)
        self.norm = nn.BatchNorm2D(16, weight_attr=False, bias_attr=False)
        self.convs = nn.LayerList([nn.Conv2D(16, 16, 3, padding=1), nn.Conv2D(16, 1, 3, padding=1)])
        self.critic = nn.Sequential(
            nn.utils.spectral_norm(nn.Conv2D(1, 8, 4, 2, 1)), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(8 * 64, 1)
        )

    def forward(self, z, label):
        x = self.fc(z).reshape([-1, 16, 4, 4])
        gamma, beta = self.label(label).unsqueeze([2, 3]).chunk(2, axis=1)
        x = F.relu(self.norm(x) * (1 + gamma) + beta)
        for conv in self.convs:
            x = conv(F.interpolate(x, scale_factor=2))
        image = paddle.tanh(x)
        return {"image": image, "score": self.critic(image)}


@model("style_transfer", lambda n, draw: [draw.image(n, 3, 32, 32), draw.image(n, 3, 32, 32)])
class StyleTransfer(nn.Layer):
    """Adaptive instance normalisation, reflection padding, Gram matrices."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Pad2D(1, mode="reflect"), nn.Conv2D(3, 16, 3), nn.InstanceNorm2D(16), nn.ReLU(), nn.MaxPool2D(2)
        )
        self.decoder = nn.Sequential(nn.Pad2D([1, 1, 1, 1], mode="reflect"), nn.Conv2D(16, 12, 3), nn.PixelShuffle(2))

    def statistics(self, x):
        return x.mean([2, 3], keepdim=True), (x.var([2, 3], keepdim=True) + 1e-5).sqrt()

    def gram(self, x):
        b, c, h, w = x.shape
        f = x.reshape([b, c, h * w])
        return paddle.bmm(f, f.transpose([0, 2, 1])) / (c * h * w)

    def forward(self, content, style):
        c, s = self.encoder(content), self.encoder(style)
        cm, cs = self.statistics(c)
        sm, ss = self.statistics(s)
        t = (c - cm) / cs * ss + sm
        return self.decoder(t), F.mse_loss(self.gram(t), self.gram(s))


@model("mixture_density", lambda n, draw: [draw.image(n, 3), draw.image(n, 2)])
class MixtureDensity(nn.Layer):
    """A Gaussian mixture's parameters and log-likelihood by paddle.distribution-like sums."""

    def __init__(self, size=3, out=2, mixtures=4):
        super().__init__()
        self.m, self.out = mixtures, out
        self.body = nn.Sequential(nn.Linear(size, 16), nn.ELU())
        self.pi, self.mu, self.sigma = nn.Linear(16, mixtures), nn.Linear(16, mixtures * out), nn.Linear(16, mixtures)

    def forward(self, x, y):
        h = self.body(x)
        log_pi = F.log_softmax(self.pi(h), axis=-1)
        mu = self.mu(h).reshape([-1, self.m, self.out])
        sigma = F.softplus(self.sigma(h)) + 1e-3
        normal = paddle.distribution.Normal(mu, sigma.unsqueeze(-1).expand_as(mu))
        log_prob = normal.log_prob(y.unsqueeze(1)).sum(-1)
        nll = -paddle.logsumexp(log_pi + log_prob, axis=-1)
        best = log_pi.argmax(-1)
        return nll, paddle.take_along_axis(mu, best.reshape([-1, 1, 1]).expand([-1, 1, self.out]), axis=1).squeeze(1)
