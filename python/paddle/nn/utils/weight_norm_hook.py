"""Weight normalisation: a weight as length times direction.

Source: Salimans and Kingma, 2016 (https://arxiv.org/abs/1602.07868).
"""

from __future__ import annotations

import paddle

from ...base.framework import EagerParamBase

__all__ = []


def norm_except_dim(p, dim):
    """The L2 norm over every dimension but `dim`, as a 1-D tensor; over all of them, a scalar, for None or -1."""
    if dim is None or dim == -1:
        return paddle.sqrt(paddle.sum(p * p) + 1e-12)
    axes = [i for i in range(len(p.shape)) if i != dim]
    return paddle.sqrt(paddle.sum(p * p, axis=axes) + 1e-12)


def _composed(v, g, dim):
    length = norm_except_dim(v, dim)
    if dim is None or dim == -1:
        return v * (g / length)
    shape = [1] * len(v.shape)
    shape[dim] = -1
    return v * (g / length).reshape(shape)


class WeightNorm:
    """The pre-hook that computes the weight from its direction `_v` and length `_g`."""

    def __init__(self, name, dim):
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, layer):
        """The weight as it stands (Tensor)."""
        return _composed(getattr(layer, self.name + "_v"), getattr(layer, self.name + "_g"), self.dim)

    @staticmethod
    def apply(layer, name, dim):
        """Splits the parameter `name` of `layer` and registers the hook."""
        for hook in layer._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        weight = layer._parameters[name]
        rank = len(weight.shape)
        if dim is not None and not -rank <= dim < rank:
            raise AssertionError(f"dim must set between [-R, R), R means the dimension of weight, got {dim}")
        dim = -1 if dim is None or dim == -1 else dim % rank
        hook = WeightNorm(name, dim)
        del layer._parameters[name]
        with paddle.no_grad():
            direction = EagerParamBase.from_tensor(paddle.assign(weight.detach()), name=weight.name + "_v")
            length = EagerParamBase.from_tensor(norm_except_dim(weight.detach(), dim), name=weight.name + "_g")
        layer.add_parameter(name + "_v", direction)
        layer.add_parameter(name + "_g", length)
        layer.__dict__[name] = hook.compute_weight(layer)
        layer.register_forward_pre_hook(hook)
        return hook

    def remove(self, layer):
        """Makes one parameter of the two again."""
        with paddle.no_grad():
            value = self.compute_weight(layer).detach()
        layer.__dict__.pop(self.name, None)
        base = layer._parameters[self.name + "_v"].name
        del layer._parameters[self.name + "_g"], layer._parameters[self.name + "_v"]
        layer.add_parameter(self.name, EagerParamBase.from_tensor(value, name=base.removesuffix("_v")))

    def __call__(self, layer, inputs):
        layer.__dict__[self.name] = self.compute_weight(layer)


def weight_norm(layer, name="weight", dim=0):
    """Reparametrises `layer`'s parameter `name` as ``name_g * name_v / |name_v|``, the norm over all dimensions but
    `dim`.

    Args:
        layer (Layer): changed in place.
        name (str): the parameter.
        dim (int | None): the dimension that keeps its own lengths; None for one length.

    Returns:
        `layer`.

    Raises:
        RuntimeError: it is reparametrised already.
    """
    WeightNorm.apply(layer, name, dim)
    return layer


def remove_weight_norm(layer, name="weight"):
    """Undoes `weight_norm`; returns `layer`. ValueError if there is nothing to undo."""
    for key, hook in layer._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(layer)
            del layer._forward_pre_hooks[key]
            return layer
    raise ValueError(f"weight_norm of '{name}' not found in {layer}")
