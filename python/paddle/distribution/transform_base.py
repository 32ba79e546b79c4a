"""What every transform of a random variable is."""

from __future__ import annotations

import enum

import paddle

from . import variable
from .distribution import Distribution


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
            from .transform_composed import ChainTransform

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
        return self._forward_shape(_as_given(shape))

    def inverse_shape(self, shape):
        """The shape whose image has `shape`."""
        return self._inverse_shape(_as_given(shape))

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


def _as_given(shape):
    """A list stays a list: what changes no shape gives back what it got."""
    return shape if isinstance(shape, list) else tuple(_shape(shape))


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
