"""Recurrent cells: one step each."""

from __future__ import annotations

import math

import paddle

from .. import functional as F
from ..initializer import Constant, Uniform
from .layers import Layer

__all__ = []


def _map(function, structure):
    """Applies `function` to the leaves of nested lists, tuples and dicts; a list or tuple of ints is a leaf."""
    if isinstance(structure, dict):
        return {key: _map(function, value) for key, value in structure.items()}
    if isinstance(structure, (list, tuple)) and not all(isinstance(s, int) for s in structure):
        return type(structure)(_map(function, value) for value in structure)
    return function(structure)


class RNNCellBase(Layer):
    """A Layer that maps (inputs, states) to (outputs, new states), and tells the shapes of its states."""

    def get_initial_states(self, batch_ref, shape=None, dtype=None, init_value=0.0, batch_dim_idx=0):
        """States filled with `init_value`.

        Args:
            batch_ref (Tensor or nested): its dimension `batch_dim_idx` is the batch.
            shape (list or nested, optional): without the batch; `state_shape` when None.
            dtype (dtype or nested, optional): `state_dtype`, or the default dtype, when None.
            init_value (float): the value.

        Returns:
            Tensor [batch, *shape], nested as `shape` is.
        """
        while isinstance(batch_ref, (list, tuple)):
            batch_ref = batch_ref[0]
        batch = batch_ref.shape[batch_dim_idx]
        shape = self.state_shape if shape is None else shape
        if dtype is None:
            try:
                dtype = self.state_dtype
            except NotImplementedError:
                dtype = paddle.get_default_dtype()
        if isinstance(dtype, (list, tuple)):
            return type(shape)(
                self.get_initial_states(batch_ref, s, d, init_value, batch_dim_idx) for s, d in zip(shape, dtype)
            )

        def fill(sizes):
            sizes = list(sizes) if isinstance(sizes, (list, tuple)) else [sizes]
            sizes = sizes[1:] if sizes and sizes[0] == -1 else sizes
            return paddle.full([batch, *sizes], init_value, dtype)

        return _map(fill, shape)

    @property
    def state_shape(self):
        """The shapes of the states without the batch; a subclass must tell unless initial states are always given."""
        raise NotImplementedError("Please add implementation for `state_shape` in the used cell.")

    @property
    def state_dtype(self):
        """The dtypes of the states."""
        raise NotImplementedError("Please add implementation for `state_dtype` in the used cell.")


class _GatedCell(RNNCellBase):
    """Input and recurrent weights for some gates, drawn from ± 1 / sqrt(hidden_size)."""

    def _make(self, gates, input_size, hidden_size, recurrent_size, attrs):
        if hidden_size <= 0:
            raise ValueError(
                f"hidden_size of {type(self).__name__} must be greater than 0, but now equals to {hidden_size}"
            )
        initializer = Uniform(-1.0 / math.sqrt(hidden_size), 1.0 / math.sqrt(hidden_size))
        shapes = {
            "weight_ih": [gates * hidden_size, input_size],
            "weight_hh": [gates * hidden_size, recurrent_size],
            "bias_ih": [gates * hidden_size],
            "bias_hh": [gates * hidden_size],
        }
        for (name, shape), attr in zip(shapes.items(), attrs):
            is_bias = name.startswith("bias")
            if attr is not False:
                value = self.create_parameter(shape, attr, is_bias=is_bias, default_initializer=initializer)
            else:  # still there, so that checkpoints agree, but fixed
                value = self.create_parameter(
                    shape, None, is_bias=is_bias, default_initializer=Constant(0.0 if is_bias else 1.0)
                )
                value.stop_gradient = True
            setattr(self, name, value)
        self.input_size = input_size
        self.hidden_size = hidden_size

    def _gates(self, inputs, hidden):
        x = paddle.matmul(inputs, self.weight_ih, transpose_y=True) + self.bias_ih
        h = paddle.matmul(hidden, self.weight_hh, transpose_y=True) + self.bias_hh
        return x, h

    @property
    def state_shape(self):
        """(hidden_size,)."""
        return (self.hidden_size,)

    def extra_repr(self):
        return f"{self.input_size}, {self.hidden_size}"


class SimpleRNNCell(_GatedCell):
    """h' = act(W_ih x + b_ih + W_hh h + b_hh).

    Args:
        input_size, hidden_size (int): sizes.
        activation (str): "tanh" or "relu".
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr (ParamAttr | bool, optional): of the parameters
            [hidden, input], [hidden, hidden], [hidden], [hidden].

    `forward` takes (inputs [B, input], states [B, hidden] or None) and returns (h', h').

    Raises:
        ValueError: a size or the activation is not possible.
    """

    def __init__(
        self, input_size, hidden_size, activation="tanh", weight_ih_attr=None, weight_hh_attr=None, bias_ih_attr=None,
        bias_hh_attr=None, name=None,
    ):  # fmt: skip
        super().__init__()
        if activation not in ("tanh", "relu"):
            raise ValueError(f"activation for SimpleRNNCell should be tanh or relu, but get {activation}")
        self._make(
            1, input_size, hidden_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        )
        self.activation = activation
        self._activation_fn = F.tanh if activation == "tanh" else F.relu

    def forward(self, inputs, states=None):
        if states is None:
            states = self.get_initial_states(inputs, self.state_shape)
        x, h = self._gates(inputs, states)
        h = self._activation_fn(x + h)
        return h, h

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.activation == "tanh" else f"{text}, activation={self.activation}"


class LSTMCell(_GatedCell):
    """c' = σ(f) c + σ(i) tanh(g), h' = σ(o) tanh(c'), for gates i, f, g, o = W_ih x + b_ih + W_hh h + b_hh.

    Args:
        input_size, hidden_size (int): sizes.
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr (ParamAttr | bool, optional): of the parameters
            [4 * hidden, input], [4 * hidden, hidden], [4 * hidden], [4 * hidden].
        proj_size (int): h' is projected to this size when it is not 0.

    `forward` takes (inputs [B, input], (h, c) or None) and returns (h', (h', c')).

    Source: Hochreiter and Schmidhuber, 1997.
    """

    def __init__(
        self, input_size, hidden_size, weight_ih_attr=None, weight_hh_attr=None, bias_ih_attr=None, bias_hh_attr=None,
        proj_size=0, name=None,
    ):  # fmt: skip
        super().__init__()
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size > 0:
            raise ValueError("proj_size must be smaller than hidden_size")
        self._make(
            4, input_size, hidden_size, proj_size or hidden_size,
            (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr),
        )  # fmt: skip
        self.proj_size = proj_size
        if proj_size > 0:
            limit = 1.0 / math.sqrt(hidden_size)
            self.weight_ho = self.create_parameter(
                [hidden_size, proj_size], weight_hh_attr, default_initializer=Uniform(-limit, limit)
            )

    def forward(self, inputs, states=None):
        if states is None:
            states = self.get_initial_states(inputs, self.state_shape)
        hidden, cell = states
        x, h = self._gates(inputs, hidden)
        i, f, g, o = paddle.chunk(x + h, 4, axis=-1)
        cell = F.sigmoid(f) * cell + F.sigmoid(i) * F.tanh(g)
        hidden = F.sigmoid(o) * F.tanh(cell)
        if self.proj_size > 0:
            hidden = paddle.matmul(hidden, self.weight_ho)
        return hidden, (hidden, cell)

    @property
    def state_shape(self):
        """((proj_size or hidden_size,), (hidden_size,))."""
        return ((self.proj_size or self.hidden_size,), (self.hidden_size,))


class GRUCell(_GatedCell):
    """h' = z h + (1 - z) tanh(W_c x + b_c + r (U_c h + b_c')), with gates r and z in front.

    Args:
        input_size, hidden_size (int): sizes.
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr (ParamAttr | bool, optional): of the parameters
            [3 * hidden, input], [3 * hidden, hidden], [3 * hidden], [3 * hidden].

    `forward` takes (inputs [B, input], h [B, hidden] or None) and returns (h', h').

    Source: Cho et al., 2014 (https://arxiv.org/abs/1406.1078).
    """

    def __init__(
        self, input_size, hidden_size, weight_ih_attr=None, weight_hh_attr=None, bias_ih_attr=None, bias_hh_attr=None,
        name=None,
    ):  # fmt: skip
        super().__init__()
        self._make(
            3, input_size, hidden_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        )

    def forward(self, inputs, states=None):
        if states is None:
            states = self.get_initial_states(inputs, self.state_shape)
        x, h = self._gates(inputs, states)
        x_r, x_z, x_c = paddle.chunk(x, 3, axis=-1)
        h_r, h_z, h_c = paddle.chunk(h, 3, axis=-1)
        reset, update = F.sigmoid(x_r + h_r), F.sigmoid(x_z + h_z)
        candidate = F.tanh(x_c + reset * h_c)
        hidden = (states - candidate) * update + candidate
        return hidden, hidden
