"""Spectral normalisation of a layer's weight. Source: Miyato et al., 2018 (https://arxiv.org/abs/1802.05957)."""

from __future__ import annotations

import paddle

from .. import functional as F

__all__ = []


class SpectralNorm:
    """The pre-hook that divides ``name_orig`` by its largest singular value, found by power iteration."""

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def _matrix(self, weight):
        if self.dim != 0:
            weight = paddle.transpose(weight, [self.dim] + [d for d in range(len(weight.shape)) if d != self.dim])
        return weight.reshape([weight.shape[0], -1])

    def compute_weight(self, layer, do_power_iteration):
        """The normalised weight (Tensor); in training the iteration's vectors move on."""
        weight = getattr(layer, self.name + "_orig")
        u, v = getattr(layer, self.name + "_u"), getattr(layer, self.name + "_v")
        matrix = self._matrix(weight)
        if do_power_iteration:
            with paddle.no_grad():
                fixed = matrix.detach()
                for _ in range(self.n_power_iterations):
                    v.set_value(F.normalize(paddle.matmul(fixed, u, transpose_x=True), axis=0, epsilon=self.eps))
                    u.set_value(F.normalize(paddle.matmul(fixed, v), axis=0, epsilon=self.eps))
            u, v = u.clone(), v.clone()
        return weight / paddle.sum(u * paddle.matmul(matrix, v))

    def __call__(self, layer, inputs):
        layer.__dict__[self.name] = self.compute_weight(layer, do_power_iteration=layer.training)

    @staticmethod
    def apply(layer, name, n_power_iterations, dim, eps):
        """Renames the parameter, adds the vectors as buffers, and registers the hook."""
        for hook in layer._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = layer._parameters[name]
        with paddle.no_grad():
            rows, columns = hook._matrix(weight.detach()).shape
            u = F.normalize(paddle.randn([rows], weight.dtype), axis=0, epsilon=eps)
            v = F.normalize(paddle.randn([columns], weight.dtype), axis=0, epsilon=eps)
        del layer._parameters[name]
        layer.add_parameter(name + "_orig", weight)
        layer.__dict__[name] = weight * 1.0
        layer.register_buffer(name + "_u", u)
        layer.register_buffer(name + "_v", v)
        layer.register_forward_pre_hook(hook)
        return hook


def spectral_norm(layer, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divides `layer`'s parameter `name` by its largest singular value at every call.

    Args:
        layer (Layer): changed in place: the parameter becomes ``name_orig``, with buffers ``name_u`` and ``name_v``.
        name (str): the parameter.
        n_power_iterations (int): iterations a call in training mode; positive.
        eps (float): lower bound of norms.
        dim (int, optional): the dimension that makes the rows; 1 for Linear and transposed convolutions, else 0.

    Returns:
        `layer`.
    """
    if dim is None:
        from ..layer.common import Linear
        from ..layer.conv import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose

        dim = 1 if isinstance(layer, (Conv1DTranspose, Conv2DTranspose, Conv3DTranspose, Linear)) else 0
    SpectralNorm.apply(layer, name, n_power_iterations, dim, eps)
    return layer
