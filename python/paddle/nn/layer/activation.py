"""Activations as layers: any shape in, the same shape out. See the functions of the same names for formulas and
errors."""

from __future__ import annotations

from .. import functional as F
from .._alias import accepts
from ..initializer import Constant
from .layers import Layer

__all__ = []


def _tail(name):
    return f", name={name}" if name else ""


class _Plain(Layer):
    """An activation without parameters of its own but a name."""

    def __init__(self, name=None):
        super().__init__()
        self._name = name

    def extra_repr(self):
        return f"name={self._name}" if self._name else ""


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


class Softmax2D(_Plain):
    """Softmax over the channels of [N, C, H, W] or [C, H, W]."""

    def forward(self, x):
        if len(x.shape) not in (3, 4):
            raise AssertionError(f"Softmax2D requires a 3D or 4D tensor as input. Received: {len(x.shape)}D.")
        return F.softmax(x, axis=-3)


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


class PReLU(Layer):
    """max(0, x) + weight * min(0, x), with a learned weight.

    Args:
        num_parameters (int): 1, or one for every channel.
        init (float): the first value of the weight.
        weight_attr (ParamAttr, optional): of the weight.
        data_format (str): where the channels stand.
    """

    def __init__(self, num_parameters=1, init=0.25, weight_attr=None, data_format="NCHW", name=None):
        super().__init__()
        self._num_parameters = num_parameters
        self._init = init
        self._weight_attr = weight_attr
        self._name = name
        self._data_format = data_format
        self._weight = self.create_parameter(
            attr=weight_attr, shape=[num_parameters], default_initializer=Constant(init)
        )

    def forward(self, x):
        return F.prelu(x, self._weight, data_format=self._data_format)

    def extra_repr(self):
        return (
            f"num_parameters={self._num_parameters}, data_format={self._data_format}, init={self._init}, "
            f"dtype={self._dtype}{_tail(self._name)}"
        )


class RReLU(Layer):
    """Leaky relu with a slope drawn from U(`lower`, `upper`) in training, their mean in evaluation."""

    def __init__(self, lower=1.0 / 8.0, upper=1.0 / 3.0, name=None):
        super().__init__()
        self._lower = lower
        self._upper = upper
        self._name = name

    def forward(self, x):
        return F.rrelu(x, self._lower, self._upper, self.training)

    def extra_repr(self):
        bounds = f"lower={self._lower}, upper={self._upper}"
        return f"{bounds}, training={self.training}, dtype={self._dtype}{_tail(self._name)}"


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


class Maxout(Layer):
    """The maximum over `groups` neighbouring channels (dimension `axis`) of a 4-D tensor."""

    def __init__(self, groups, axis=1, name=None):
        super().__init__()
        self._groups = groups
        self._axis = axis
        self._name = name

    def forward(self, x):
        return F.maxout(x, self._groups, self._axis)

    def extra_repr(self):
        return f"groups={self._groups}, axis={self._axis}{_tail(self._name)}"


class Softmax(Layer):
    """exp(x) over its sum along `axis`."""

    def __init__(self, axis=-1, name=None):
        super().__init__()
        self._axis = axis
        self._dtype = None
        self._name = name

    def forward(self, x):
        return F.softmax(x, self._axis)

    def extra_repr(self):
        return f"axis={self._axis}{_tail(self._name)}"


class LogSoftmax(Layer):
    """log(softmax(x)) along `axis`."""

    def __init__(self, axis=-1, name=None):
        super().__init__()
        self._axis = axis
        self._name = name

    def forward(self, x):
        return F.log_softmax(x, self._axis)

    def extra_repr(self):
        return f"axis={self._axis}{_tail(self._name)}"


class GLU(Layer):
    """a * sigmoid(b) of the halves a and b along `axis` (also called `dim`)."""

    @accepts(axis="dim")
    def __init__(self, axis=-1, name=None):
        super().__init__()
        self._axis = axis
        self._name = name

    @property
    def dim(self):
        """The axis."""
        return self._axis

    @dim.setter
    def dim(self, value):
        self._axis = value

    @accepts(x="input")
    def forward(self, x):
        return F.glu(x, self._axis)

    def extra_repr(self):
        return f"axis={self._axis}{_tail(self._name)}"
