"""Activations along an axis or with weights: softmax, gates, maxima, learned and random slopes."""

from __future__ import annotations

from .. import functional as F
from .._alias import accepts
from ..initializer import Constant
from .activation_base import _Plain, _tail
from .axis import AxisAsDim
from .layers import Layer


class Softmax2D(_Plain):
    """Softmax over the channels of [N, C, H, W] or [C, H, W]."""

    def forward(self, x):
        if len(x.shape) not in (3, 4):
            raise AssertionError(f"Softmax2D requires a 3D or 4D tensor as input. Received: {len(x.shape)}D.")
        return F.softmax(x, axis=-3)


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


class GLU(AxisAsDim, Layer):
    """a * sigmoid(b) of the halves a and b along `axis` (also called `dim`)."""

    @accepts(axis="dim")
    def __init__(self, axis=-1, name=None):
        super().__init__()
        self._axis = axis
        self._name = name

    @accepts(x="input")
    def forward(self, x):
        return F.glu(x, self._axis)

    def extra_repr(self):
        return f"axis={self._axis}{_tail(self._name)}"
