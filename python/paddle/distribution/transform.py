"""Maps of random variables, with what the change of variables needs."""

from __future__ import annotations

import enum
import math

import paddle

from . import variable
from .distribution import Distribution

__all__ = [
    "AbsTransform", "AffineTransform", "ChainTransform", "ExpTransform", "IndependentTransform", "PowerTransform",
    "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform", "StackTransform", "StickBreakingTransform",
    "TanhTransform", "Transform",
]  # fmt: skip


class Type(enum.Enum):
    """How a map takes its domain to its codomain."""

    BIJECTION = "bijection"
    INJECTION = "injection"
    SURJECTION = "surjection"
    OTHER = "other"

    @classmethod
    def is_injective(cls, kind):
        """Whether different values stay different."""
        return kind in (cls.BIJECTION, cls.INJECTION)


class Transform:
    """A map of tensors, of distributions (to a TransformedDistribution), or of transforms (to a ChainTransform).

    A subclass writes ``_forward``, ``_inverse`` and one of ``_forward_log_det_jacobian`` and
    ``_inverse_log_det_jacobian``, and sets ``_type``.
    """

    _type = Type.INJECTION

    @classmethod
    def _is_injective(cls):
        return Type.is_injective(cls._type)

    def __call__(self, x):
        if isinstance(x, Distribution):
            from .transformed_distribution import TransformedDistribution

            return TransformedDistribution(x, [self])
        if isinstance(x, Transform):
            return ChainTransform([self, x])
        return self.forward(x)

    def forward(self, x):
        """The image of `x`.

        Raises:
            TypeError: `x` is no tensor. ValueError: it has fewer axes than an event.
        """
        return self._forward(_checked(x, "x", self._domain))

    def inverse(self, y):
        """An `x` whose image is `y`."""
        return self._inverse(_checked(y, "y", self._codomain))

    def forward_log_det_jacobian(self, x):
        """log |det dy / dx|, one per event.

        Raises:
            NotImplementedError: the map is not injective.
        """
        return self._call_forward_log_det_jacobian(_checked(x, "x", self._domain))

    def inverse_log_det_jacobian(self, y):
        """log |det dx / dy|, one per event."""
        return self._call_inverse_log_det_jacobian(_checked(y, "y", self._codomain))

    def forward_shape(self, shape):
        """The shape of the image of tensors of `shape`."""
        return self._forward_shape(tuple(_shape(shape)))

    def inverse_shape(self, shape):
        """The shape whose image has `shape`."""
        return self._inverse_shape(tuple(_shape(shape)))

    @property
    def _domain(self):
        return variable.real

    @property
    def _codomain(self):
        return variable.real

    def _forward(self, x):
        raise NotImplementedError("Forward not implemented")

    def _inverse(self, y):
        raise NotImplementedError("Inverse not implemented")

    def _call_forward_log_det_jacobian(self, x):
        if hasattr(self, "_forward_log_det_jacobian"):
            return self._forward_log_det_jacobian(x)
        if hasattr(self, "_inverse_log_det_jacobian"):
            return -self._inverse_log_det_jacobian(self.forward(x))
        raise NotImplementedError(
            "Neither _forward_log_det_jacobian nor _inverse_log_det_jacobian is implemented. One of them is required."
        )

    def _call_inverse_log_det_jacobian(self, y):
        if hasattr(self, "_inverse_log_det_jacobian"):
            return self._inverse_log_det_jacobian(y)
        if hasattr(self, "_forward_log_det_jacobian"):
            return -self._forward_log_det_jacobian(self._inverse(y))
        raise NotImplementedError(
            "Neither _forward_log_det_jacobian nor _inverse_log_det_jacobian is implemented. One of them is required."
        )

    def _forward_shape(self, shape):
        return shape

    def _inverse_shape(self, shape):
        return shape


def _checked(value, name, kind):
    if not isinstance(value, paddle.Tensor):
        raise TypeError(f"Expected '{name}' is a Tensor, but got {type(value)}.")
    if len(value.shape) < kind.event_rank:
        raise ValueError(
            f"The dimensions of {name}({len(value.shape)}) should be grater than or equal to {kind.event_rank}"
        )
    return value


def _shape(shape):
    if not isinstance(shape, (list, tuple)):
        raise TypeError(f"Expected shape is Sequence[int] type, but got {type(shape)}.")
    return shape


def _tensors(**given):
    for name, value in given.items():
        if not isinstance(value, paddle.Tensor):
            raise TypeError(f"Expected '{name}' is a Tensor, but got {type(value)}.")


class AbsTransform(Transform):
    """y = |x|. Its inverse is the pair (-y, y)."""

    _type = Type.SURJECTION

    def _forward(self, x):
        return x.abs()

    def _inverse(self, y):
        return -y, y

    def _inverse_log_det_jacobian(self, y):
        zero = paddle.zeros([], dtype=y.dtype)
        return zero, zero

    @property
    def _codomain(self):
        return variable.positive


class AffineTransform(Transform):
    """y = loc + scale x.

    Args:
        loc, scale (Tensor): broadcast against x.
    """

    _type = Type.BIJECTION

    def __init__(self, loc, scale):
        _tensors(loc=loc, scale=scale)
        self._loc, self._scale = loc, scale

    @property
    def loc(self):
        """What is added."""
        return self._loc

    @property
    def scale(self):
        """What is multiplied with."""
        return self._scale

    def _forward(self, x):
        return self._loc + self._scale * x

    def _inverse(self, y):
        return (y - self._loc) / self._scale

    def _forward_log_det_jacobian(self, x):
        shape = paddle.broadcast_shape(paddle.broadcast_shape(x.shape, self._loc.shape), self._scale.shape)
        return paddle.log(paddle.abs(self._scale)).expand(shape)

    def _forward_shape(self, shape):
        return tuple(paddle.broadcast_shape(paddle.broadcast_shape(shape, self._loc.shape), self._scale.shape))

    _inverse_shape = _forward_shape


class ExpTransform(Transform):
    """y = exp(x)."""

    _type = Type.BIJECTION

    @property
    def _codomain(self):
        return variable.positive

    def _forward(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def _forward_log_det_jacobian(self, x):
        return x


class PowerTransform(Transform):
    """y = x^power on positive numbers.

    Args:
        power (Tensor): broadcast against x.
    """

    _type = Type.BIJECTION

    def __init__(self, power):
        _tensors(power=power)
        self._power = power

    @property
    def power(self):
        """The exponent."""
        return self._power

    @property
    def _domain(self):
        return variable.real

    @property
    def _codomain(self):
        return variable.positive

    def _forward(self, x):
        return x.pow(self._power)

    def _inverse(self, y):
        return y.pow(1 / self._power)

    def _forward_log_det_jacobian(self, x):
        return (self._power * x.pow(self._power - 1)).abs().log()

    def _forward_shape(self, shape):
        return tuple(paddle.broadcast_shape(shape, self._power.shape))

    _inverse_shape = _forward_shape


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x))."""

    _type = Type.BIJECTION

    @property
    def _codomain(self):
        return variable.Variable(False, 0, variable._constraint.Range(0.0, 1.0))

    def _forward(self, x):
        return paddle.nn.functional.sigmoid(x)

    def _inverse(self, y):
        return y.log() - (-y).log1p()

    def _forward_log_det_jacobian(self, x):
        softplus = paddle.nn.functional.softplus
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """y = tanh(x)."""

    _type = Type.BIJECTION

    @property
    def _codomain(self):
        return variable.Variable(False, 0, variable._constraint.Range(-1.0, 1.0))

    def _forward(self, x):
        return x.tanh()

    def _inverse(self, y):
        return y.atanh()

    def _forward_log_det_jacobian(self, x):
        # log(1 - tanh^2), in a form that does not overflow.
        return 2.0 * (math.log(2.0) - x - paddle.nn.functional.softplus(-2.0 * x))


class SoftmaxTransform(Transform):
    """y = softmax(x) along the last axis; its inverse is log(y)."""

    _type = Type.OTHER

    @property
    def _domain(self):
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self):
        return variable.Variable(False, 1, variable._constraint.simplex)

    def _forward(self, x):
        y = (x - x.max(-1, keepdim=True)).exp()
        return y / y.sum(-1, keepdim=True)

    def _inverse(self, y):
        return y.log()

    def _forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError(f"Expected length of shape is grater than 1, but got {len(shape)}")
        return shape

    _inverse_shape = _forward_shape


class StickBreakingTransform(Transform):
    """n numbers to n + 1 that are positive and sum to 1: each takes a share of what those before left."""

    _type = Type.BIJECTION

    @property
    def _domain(self):
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self):
        return variable.Variable(False, 1, variable._constraint.simplex)

    @staticmethod
    def _offset(n, dtype):
        return paddle.log(paddle.arange(n, 0, -1, dtype=dtype))

    def _forward(self, x):
        z = paddle.nn.functional.sigmoid(x - self._offset(x.shape[-1], x.dtype))
        one = paddle.ones([*x.shape[:-1], 1], dtype=x.dtype)
        left = paddle.concat([one, (1 - z).cumprod(-1)], -1)
        return paddle.concat([z, one], -1) * left

    def _inverse(self, y):
        head = y[..., :-1]
        left = 1 - head.cumsum(-1)
        return head.log() - left.log() + self._offset(head.shape[-1], y.dtype)

    def _forward_log_det_jacobian(self, x):
        y = self.forward(x)
        x = x - self._offset(x.shape[-1], x.dtype)
        return (-x + paddle.nn.functional.log_sigmoid(x) + y[..., :-1].log()).sum(-1)

    def _forward_shape(self, shape):
        if not shape:
            raise ValueError(f"Expected 'shape' is not empty, but got {shape}")
        return (*shape[:-1], shape[-1] + 1)

    def _inverse_shape(self, shape):
        if not shape:
            raise ValueError(f"Expected 'shape' is not empty, but got {shape}")
        return (*shape[:-1], shape[-1] - 1)


class ReshapeTransform(Transform):
    """Events reshaped.

    Args:
        in_event_shape, out_event_shape (sequence of int): of one size.

    Raises:
        TypeError: no sequences. ValueError: the sizes differ.
    """

    _type = Type.BIJECTION

    def __init__(self, in_event_shape, out_event_shape):
        self._in_event_shape, self._out_event_shape = tuple(_shape(in_event_shape)), tuple(_shape(out_event_shape))
        if math.prod(in_event_shape) != math.prod(out_event_shape):
            raise ValueError(
                f"The numel of 'in_event_shape' should be 'out_event_shape', but got {math.prod(in_event_shape)}!="
                f"{math.prod(out_event_shape)}"
            )

    @property
    def in_event_shape(self):
        """The shape of an event before."""
        return self._in_event_shape

    @property
    def out_event_shape(self):
        """The shape of an event after."""
        return self._out_event_shape

    @property
    def _domain(self):
        return variable.Independent(variable.real, len(self._in_event_shape))

    @property
    def _codomain(self):
        return variable.Independent(variable.real, len(self._out_event_shape))

    def _forward(self, x):
        return x.reshape([*x.shape[: len(x.shape) - len(self._in_event_shape)], *self._out_event_shape])

    def _inverse(self, y):
        return y.reshape([*y.shape[: len(y.shape) - len(self._out_event_shape)], *self._in_event_shape])

    def _forward_log_det_jacobian(self, x):
        return paddle.zeros(x.shape[: len(x.shape) - len(self._in_event_shape)], dtype=x.dtype)

    @staticmethod
    def _replaced(shape, old, new):
        cut = len(shape) - len(old)
        if cut < 0:
            raise ValueError(f"Expected length of 'shape' is not less than {len(old)}, but got {len(shape)}")
        if tuple(shape[cut:]) != old:
            raise ValueError(f"Event shape mismatch, expected: {old}, but got {tuple(shape[cut:])}")
        return tuple(shape[:cut]) + new

    def _forward_shape(self, shape):
        return self._replaced(shape, self._in_event_shape, self._out_event_shape)

    def _inverse_shape(self, shape):
        return self._replaced(shape, self._out_event_shape, self._in_event_shape)


class IndependentTransform(Transform):
    """`base`, with the last axes of a batch as part of the event: its Jacobian is summed over them.

    Raises:
        TypeError: `base` is no Transform. ValueError: the rank is below 1.
    """

    def __init__(self, base, reinterpreted_batch_rank):
        if not isinstance(base, Transform):
            raise TypeError(f"Expected 'base' is Transform type, but get {type(base)}")
        if reinterpreted_batch_rank <= 0:
            raise ValueError(
                f"Expected 'reinterpreted_batch_rank' is grater than zero, but got {reinterpreted_batch_rank}"
            )
        self._base, self._reinterpreted_batch_rank = base, reinterpreted_batch_rank

    def _is_injective(self):
        return self._base._is_injective()

    def _forward(self, x):
        return self._base.forward(x)

    def _inverse(self, y):
        return self._base.inverse(y)

    def _forward_log_det_jacobian(self, x):
        return self._base.forward_log_det_jacobian(x).sum(list(range(-self._reinterpreted_batch_rank, 0)))

    def _forward_shape(self, shape):
        return self._base.forward_shape(shape)

    def _inverse_shape(self, shape):
        return self._base.inverse_shape(shape)

    @property
    def _domain(self):
        return variable.Independent(self._base._domain, self._reinterpreted_batch_rank)

    @property
    def _codomain(self):
        return variable.Independent(self._base._codomain, self._reinterpreted_batch_rank)


class ChainTransform(Transform):
    """One transform after the other.

    Args:
        transforms (sequence of Transform): the first is applied first.

    Raises:
        TypeError: no sequence, or not all are transforms.
    """

    def __init__(self, transforms):
        if not isinstance(transforms, (list, tuple)):
            raise TypeError(f"Expected type of 'transforms' is Sequence, but got {type(transforms)}")
        if not all(isinstance(t, Transform) for t in transforms):
            raise TypeError("All elements of transforms should be Transform type.")
        self.transforms = transforms

    def _is_injective(self):
        return all(t._is_injective() for t in self.transforms)

    def _forward(self, x):
        for t in self.transforms:
            x = t.forward(x)
        return x

    def _inverse(self, y):
        for t in reversed(self.transforms):
            y = t.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x):
        value = 0.0
        event_rank = self._domain.event_rank
        for t in self.transforms:
            value = value + _summed(t.forward_log_det_jacobian(x), event_rank - t._domain.event_rank)
            x = t.forward(x)
            event_rank += t._codomain.event_rank - t._domain.event_rank
        return value

    def _forward_shape(self, shape):
        for t in self.transforms:
            shape = t.forward_shape(shape)
        return shape

    def _inverse_shape(self, shape):
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        return shape

    @property
    def _domain(self):
        """The first domain, with as many axes more as later transforms need."""
        base = self.transforms[0]._domain
        rank = self.transforms[-1]._codomain.event_rank
        for t in reversed(self.transforms):
            rank = max(rank + t._domain.event_rank - t._codomain.event_rank, t._domain.event_rank)
        return variable.Independent(base, rank - base.event_rank)

    @property
    def _codomain(self):
        base = self.transforms[-1]._codomain
        rank = self.transforms[0]._domain.event_rank
        for t in self.transforms:
            rank = max(rank + t._codomain.event_rank - t._domain.event_rank, t._codomain.event_rank)
        return variable.Independent(base, rank - base.event_rank)


def _summed(value, n):
    return value.sum(list(range(-n, 0))) if n > 0 else value


class StackTransform(Transform):
    """Another transform for each slice along an axis.

    Args:
        transforms (sequence of Transform): as many as slices.
        axis (int): which axis.

    Raises:
        TypeError: no sequence of transforms, or `axis` is no int.
    """

    def __init__(self, transforms, axis=0):
        if not transforms or not isinstance(transforms, (list, tuple)):
            raise TypeError(f"Expected 'transforms' is Sequence[Transform], but got {type(transforms)}.")
        if not all(isinstance(t, Transform) for t in transforms):
            raise TypeError("Expected all element in transforms is Transform Type.")
        if not isinstance(axis, int):
            raise TypeError(f"Expected 'axis' is int, but got{type(axis)}.")
        self._transforms, self._axis = transforms, axis

    def _is_injective(self):
        return all(t._is_injective() for t in self._transforms)

    @property
    def transforms(self):
        """The transforms."""
        return self._transforms

    @property
    def axis(self):
        """The axis."""
        return self._axis

    def _each(self, method, x):
        n = x.shape[self._axis]
        if n != len(self._transforms):
            raise ValueError(
                f"Input x's shape {x.shape[self._axis]} along axis {self._axis} does not match the number of "
                f"transforms {len(self._transforms)}"
            )
        slices = paddle.unstack(x, self._axis)
        return paddle.stack([getattr(t, method)(s) for t, s in zip(self._transforms, slices)], self._axis)

    def _forward(self, x):
        return self._each("forward", x)

    def _inverse(self, y):
        return self._each("inverse", y)

    def _forward_log_det_jacobian(self, x):
        return self._each("forward_log_det_jacobian", x)

    @property
    def _domain(self):
        return variable.Stack([t._domain for t in self._transforms], self._axis)

    @property
    def _codomain(self):
        return variable.Stack([t._codomain for t in self._transforms], self._axis)
