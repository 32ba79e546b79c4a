"""Gradient clipping.

A clip object maps a list of (parameter, gradient) pairs to one with clipped gradients; pairs without a gradient pass,
and
so do those whose parameter has `need_clip` False.
"""

from __future__ import annotations

import paddle

__all__ = []


def clip_by_norm(x, max_norm, name=None):
    """x * min(1, `max_norm` / |x|_2)."""
    length = paddle.sqrt(_squared_l2_norm(x)).astype(x.dtype)
    return paddle.where(length > max_norm, x * (max_norm / length), x)


def _squared_l2_norm(x):
    """The sum of squares, in float32 for 16-bit floats: a scalar."""
    if str(x.dtype).rsplit(".", 1)[-1] in ("float16", "bfloat16"):
        x = x.astype("float32")
    return paddle.sum(x * x)


def merge_selected_rows(x, name=None):
    """Adds up the equal rows of a gradient held as rows; a dense tensor is returned as it is."""
    return x


def get_tensor_from_selected_rows(x, name=None):
    """The dense values of a gradient held as rows; a dense tensor is returned as it is."""
    return x


class ClipGradBase:
    """Base of clipping rules: a subclass defines `_clip(params_grads)`."""

    def __str__(self):
        raise NotImplementedError

    @paddle.no_grad()
    def _dygraph_clip(self, params_grads):
        return self._clip(params_grads)

    def _clip(self, params_grads):
        raise NotImplementedError

    def __call__(self, params_grads):
        return self._dygraph_clip(params_grads)


def _total(values):
    """The sum of scalars; of distributed ones on several meshes as a plain tensor on every rank."""
    if any(v.is_dist() for v in values):
        from paddle.distributed.auto_parallel.api import sum_over_meshes

        return sum_over_meshes(values)
    return paddle.sum(paddle.stack(values))


def _wanted(param, grad):
    return grad is not None and getattr(param, "need_clip", True) is not False


class ClipGradByValue(ClipGradBase):
    """Clips every element of a gradient to [`min`, `max`]; `min` is -`max` when None (`max` then positive)."""

    def __init__(self, max, min=None):
        super().__init__()
        if min is None:
            assert max > 0.0
            min = -max
        self.max = float(max)
        self.min = float(min)

    def __str__(self):
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"

    def _clip(self, params_grads):
        return [
            (p, paddle.clip(g, self.min, self.max) if _wanted(p, g) else g) for p, g in params_grads if g is not None
        ]


class ClipGradByNorm(ClipGradBase):
    """Scales every gradient by itself so that its L2 norm is at most `clip_norm`."""

    def __init__(self, clip_norm):
        super().__init__()
        self.clip_norm = float(clip_norm)

    def __str__(self):
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"

    def _clip(self, params_grads):
        return [(p, clip_by_norm(g, self.clip_norm) if _wanted(p, g) else g) for p, g in params_grads if g is not None]


class ClipGradByGlobalNorm(ClipGradBase):
    """Scales all gradients together so that the L2 norm of them all is at most `clip_norm`.

    Args:
        clip_norm (float): the bound.
        group_name (str): accepted.
        auto_skip_clip (bool): leave the gradients untouched, bit for bit, when the norm is below the bound.

    Source: Pascanu et al., 2012 (https://arxiv.org/abs/1211.5063).
    """

    def __init__(self, clip_norm, group_name="default_group", auto_skip_clip=False):
        super().__init__()
        self.clip_norm = float(clip_norm)
        self.group_name = group_name
        assert isinstance(auto_skip_clip, bool)
        self.auto_skip_clip = auto_skip_clip

    def __str__(self):
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"

    def _clip(self, params_grads):
        squares = [_squared_l2_norm(g) for p, g in params_grads if _wanted(p, g)]
        if not squares:
            return params_grads
        wide = "float64" if any(s.dtype == paddle.float64 for s in squares) else "float32"
        total = paddle.sqrt(_total([s.astype(wide) for s in squares]))
        if self.auto_skip_clip and bool(total <= self.clip_norm):
            return params_grads
        factor = self.clip_norm / paddle.clip(total, min=self.clip_norm)
        factors = {}  # by dtype: a cast each would cost more than the multiplication of small gradients
        clipped = []
        for p, g in params_grads:
            if _wanted(p, g):
                if g.dtype not in factors:
                    factors[g.dtype] = factor.astype(g.dtype)
                g = g * factors[g.dtype]
            if g is not None:
                clipped.append((p, g))
        return clipped


GradientClipBase = ClipGradBase
GradientClipByValue = ClipGradByValue
GradientClipByNorm = ClipGradByNorm
GradientClipByGlobalNorm = ClipGradByGlobalNorm


class BaseErrorClipAttr:
    """Base of rules that clip a variable's error."""

    def __str__(self):
        raise NotImplementedError


class ErrorClipByValue(BaseErrorClipAttr):
    """Clips an error to [`min`, `max`]; `min` is -`max` when None."""

    def __init__(self, max, min=None):
        super().__init__()
        self.max = float(max)
        self.min = -self.max if min is None else float(min)

    def __str__(self):
        return f"ByValue, min={self.min:f}, max={self.max:f}"
