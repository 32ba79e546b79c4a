"""Activations as layers: any shape in, the same shape out. See the functions of the same names for formulas and
errors."""

from __future__ import annotations

from .. import functional as F
from .._alias import accepts
from .activation_base import _Plain, _tail  # noqa: F401
from .activation_sized import GLU, LogSoftmax, Maxout, PReLU, RReLU, Softmax, Softmax2D  # noqa: F401
from .layers import Layer

__all__ = []


class ReLU(_Plain):
    """max(x, 0)."""

    def forward(self, x):
        return F.relu(x)


class ReLU6(_Plain):
    """min(max(x, 0), 6)."""

    def forward(self, x):
        return F.relu6(x)


class Sigmoid(_Plain):
    """1 / (1 + exp(-x))."""

    def forward(self, x):
        return F.sigmoid(x)


class Tanh(_Plain):
    """tanh(x)."""

    def forward(self, x):
        return F.tanh(x)


class Hardswish(_Plain):
    """x * min(max(x + 3, 0), 6) / 6."""

    def forward(self, x):
        return F.hardswish(x)


class Hardsigmoid(_Plain):
    """min(max(x / 6 + 0.5, 0), 1)."""

    def forward(self, x):
        return F.hardsigmoid(x)


class LogSigmoid(_Plain):
    """log(sigmoid(x))."""

    def forward(self, x):
        return F.log_sigmoid(x)


class Softsign(_Plain):
    """x / (1 + |x|)."""

    def forward(self, x):
        return F.softsign(x)


class Swish(_Plain):
    """x * sigmoid(x)."""

    def forward(self, x):
        return F.swish(x)


class Mish(_Plain):
    """x * tanh(softplus(x))."""

    def forward(self, x):
        return F.mish(x)


class Tanhshrink(_Plain):
    """x - tanh(x)."""

    def forward(self, x):
        return F.tanhshrink(x)


class Silu(Layer):
    """x * sigmoid(x)."""

    def __init__(self, inplace=False, name=None):
        super().__init__()
        self._inplace = inplace
        self._name = name

    @accepts(x="input")
    def forward(self, x):
        return F.silu(x, self._inplace)

    def extra_repr(self):
        return f"inplace={self._inplace}{_tail(self._name)}"


SiLU = Silu


class CELU(Layer):
    """max(0, x) + min(0, `alpha` * (exp(x / `alpha`) - 1))."""

    def __init__(self, alpha=1.0, name=None):
        super().__init__()
        self._alpha = alpha
        self._name = name

    def forward(self, x):
        return F.celu(x, self._alpha)

    def extra_repr(self):
        return f"alpha={self._alpha}{_tail(self._name)}"


class ELU(Layer):
    """x for x > 0, `alpha` * (exp(x) - 1) elsewhere."""

    def __init__(self, alpha=1.0, name=None):
        super().__init__()
        self._alpha = alpha
        self._name = name

    def forward(self, x):
        return F.elu(x, self._alpha)

    def extra_repr(self):
        return f"alpha={self._alpha}{_tail(self._name)}"


class GELU(Layer):
    """x * Φ(x); `approximate` chooses the tanh form."""

    def __init__(self, approximate=False, name=None):
        super().__init__()
        self._approximate = approximate
        self._name = name

    def forward(self, x):
        return F.gelu(x, self._approximate)

    def extra_repr(self):
        return f"approximate={self._approximate}{_tail(self._name)}"


class _Threshold(Layer):
    @accepts(threshold="lambd")
    def __init__(self, threshold=0.5, name=None):
        super().__init__()
        self._threshold = threshold
        self._name = name

    @property
    def lambd(self):
        """The threshold."""
        return self._threshold

    @lambd.setter
    def lambd(self, value):
        self._threshold = value

    def extra_repr(self):
        return f"threshold={self._threshold}{_tail(self._name)}"


class Hardshrink(_Threshold):
    """x where |x| > `threshold` (also called `lambd`), 0 elsewhere."""

    @accepts(x="input")
    def forward(self, x):
        return F.hardshrink(x, self._threshold)


class Softshrink(_Threshold):
    """x moved towards zero by `threshold` (also called `lambd`)."""

    @accepts(x="input")
    def forward(self, x):
        return F.softshrink(x, self._threshold)


class Hardtanh(Layer):
    """x clipped to [`min`, `max`]."""

    def __init__(self, min=-1.0, max=1.0, name=None):
        super().__init__()
        self._min = min
        self._max = max
        self._name = name

    def forward(self, x):
        return F.hardtanh(x, self._min, self._max)

    def extra_repr(self):
        return f"min={self._min}, max={self._max}{_tail(self._name)}"


class SELU(Layer):
    """`scale` * (x for x > 0, `alpha` * (exp(x) - 1) elsewhere)."""

    def __init__(self, scale=1.0507009873554804934193349852946, alpha=1.6732632423543772848170429916717, name=None):
        super().__init__()
        self._scale = scale
        self._alpha = alpha
        self._name = name

    def forward(self, x):
        return F.selu(x, self._scale, self._alpha)

    def extra_repr(self):
        return f"scale={self._scale:.16f}, alpha={self._alpha:.16f}{_tail(self._name)}"


class LeakyReLU(Layer):
    """x for x >= 0, `negative_slope` * x elsewhere."""

    def __init__(self, negative_slope=0.01, name=None):
        super().__init__()
        self._negative_slope = negative_slope
        self._name = name

    def forward(self, x):
        return F.leaky_relu(x, self._negative_slope)

    def extra_repr(self):
        return f"negative_slope={self._negative_slope}{_tail(self._name)}"


class Softplus(Layer):
    """log(1 + exp(`beta` * x)) / `beta`, and x itself where `beta` * x > `threshold`."""

    def __init__(self, beta=1, threshold=20, name=None):
        super().__init__()
        self._beta = beta
        self._threshold = threshold
        self._name = name

    def forward(self, x):
        return F.softplus(x, self._beta, self._threshold)

    def extra_repr(self):
        return f"beta={self._beta}, threshold={self._threshold}{_tail(self._name)}"


class ThresholdedReLU(Layer):
    """x where x > `threshold`, `value` elsewhere."""

    def __init__(self, threshold=1.0, value=0.0, name=None):
        super().__init__()
        self._threshold = threshold
        self._value = value
        self._name = name

    def forward(self, x):
        return F.thresholded_relu(x, self._threshold, self._value)

    def extra_repr(self):
        return f"threshold={self._threshold}, value={self._value}{_tail(self._name)}"
