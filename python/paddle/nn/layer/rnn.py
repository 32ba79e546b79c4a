"""Recurrent networks over whole sequences."""

from __future__ import annotations

import paddle

from ...jit._trace_api import is_symint
from ...jit.dy2static.convert import library_loop
from .. import functional as F
from .container import LayerList
from .layers import Layer
from .rnn_cells import GRUCell, LSTMCell, RNNCellBase, SimpleRNNCell, _map  # noqa: F401

__all__ = []


def _merge(mask, new, old):
    """New states where `mask` ([B, 1]) is true, old ones where a sequence has ended."""
    if isinstance(new, (list, tuple)):
        return type(new)(_merge(mask, n, o) for n, o in zip(new, old))
    return paddle.where(mask.reshape([-1] + [1] * (len(new.shape) - 1)), new, old)


def rnn(cell, inputs, initial_states=None, sequence_length=None, time_major=False, is_reverse=False, **kwargs):
    """Runs `cell` along time.

    Args:
        cell (RNNCellBase): maps (inputs, states) to (outputs, states).
        inputs (Tensor or nested): [B, T, ...], or [T, B, ...] with `time_major`.
        initial_states (Tensor or nested, optional): the cell's own when None.
        sequence_length (Tensor, optional): [B]; states stand still after it.
        time_major, is_reverse (bool): layout, and direction.

    Returns:
        (outputs with time in its place, final states).
    """
    batch_index = 1 if time_major else 0
    if initial_states is None:
        initial_states = cell.get_initial_states(batch_ref=inputs, batch_dim_idx=batch_index)
    time_axis = 0 if time_major else 1
    first = inputs
    while isinstance(first, (list, tuple)):
        first = first[0]
    steps = first.shape[time_axis]
    mask = None
    if sequence_length is not None:
        mask = F.sequence_mask(sequence_length, maxlen=steps, dtype="bool")
    if is_symint(steps) and isinstance(inputs, paddle.Tensor):
        run = library_loop(_open_length)
        return run(cell, inputs, initial_states, mask, steps, time_axis, is_reverse, kwargs)
    series = _map(lambda x: paddle.unbind(x, axis=time_axis), inputs)
    states, outputs = initial_states, []
    for i in range(steps):
        t = steps - 1 - i if is_reverse else i
        out, new_states = cell(_at(series, t, inputs), states, **kwargs)
        states = new_states if mask is None else _merge(mask[:, t], new_states, states)
        outputs.append(out)
    if is_reverse:
        outputs.reverse()
    return _stack(outputs, time_axis), states


def _open_length(cell, inputs, states, mask, steps, time_axis, is_reverse, kwargs):
    """The same where a captured program leaves the number of steps open: one loop operator, not a copy for each step."""
    outputs = []
    for i in range(steps):
        t = steps - 1 - i if is_reverse else i
        step = inputs[:, t] if time_axis else inputs[t]
        out, new_states = cell(step, states, **kwargs)
        states = new_states if mask is None else _merge(mask[:, t], new_states, states)
        outputs.append(out)
    joined = paddle.stack(outputs, axis=time_axis)
    return paddle.flip(joined, [time_axis]) if is_reverse else joined, states


def _at(series, t, like):
    if isinstance(like, (list, tuple)):
        return type(like)(_at(s, t, x) for s, x in zip(series, like))
    return series[t]


def _stack(outputs, axis):
    if isinstance(outputs[0], (list, tuple)):
        return type(outputs[0])(_stack(list(part), axis) for part in zip(*outputs))
    return paddle.stack(outputs, axis=axis)


class RNN(Layer):
    """`cell` along time: `forward(inputs, initial_states=None, sequence_length=None, **kwargs)` gives (outputs,
    states).

    Args:
        cell (RNNCellBase): the step.
        is_reverse (bool): from the end to the beginning.
        time_major (bool): inputs are [T, B, ...] rather than [B, T, ...].
    """

    def __init__(self, cell, is_reverse=False, time_major=False):
        super().__init__()
        self.cell = cell
        if not hasattr(self.cell, "call"):
            self.cell.call = self.cell.forward
        self.is_reverse = is_reverse
        self.time_major = time_major

    def forward(self, inputs, initial_states=None, sequence_length=None, **kwargs):
        return rnn(self.cell, inputs, initial_states, sequence_length, self.time_major, self.is_reverse, **kwargs)


class BiRNN(Layer):
    """Two cells, one in each direction; outputs are concatenated, states are a pair.

    Args:
        cell_fw, cell_bw (RNNCellBase): forwards and backwards, of one input size.
        time_major (bool): inputs are [T, B, ...].

    Raises:
        ValueError: the input sizes differ.
    """

    def __init__(self, cell_fw, cell_bw, time_major=False):
        super().__init__()
        self.cell_fw = cell_fw
        self.cell_bw = cell_bw
        if getattr(cell_fw, "input_size", None) != getattr(cell_bw, "input_size", None):
            raise ValueError(
                f"input size of forward cell({cell_fw.input_size}) does "
                f"not equals that of backward cell({cell_bw.input_size})"
            )
        self.time_major = time_major

    def forward(self, inputs, initial_states=None, sequence_length=None, **kwargs):
        if isinstance(initial_states, (list, tuple)):
            assert len(initial_states) == 2, "length of initial_states should be 2 when it is a list/tuple"
        forward_states, backward_states = (None, None) if initial_states is None else initial_states
        ahead, ahead_states = rnn(
            self.cell_fw, inputs, forward_states, sequence_length, self.time_major, False, **kwargs
        )
        back, back_states = rnn(self.cell_bw, inputs, backward_states, sequence_length, self.time_major, True, **kwargs)
        joined = _map_pair(lambda a, b: paddle.concat([a, b], axis=-1), ahead, back)
        return joined, (ahead_states, back_states)


def _map_pair(function, a, b):
    if isinstance(a, (list, tuple)):
        return type(a)(_map_pair(function, x, y) for x, y in zip(a, b))
    return function(a, b)


class RNNBase(LayerList):
    """Stacked recurrent layers; what SimpleRNN, LSTM and GRU share."""

    def __init__(
        self, mode, input_size, hidden_size, num_layers=1, direction="forward", time_major=False, dropout=0.0,
        weight_ih_attr=None, weight_hh_attr=None, bias_ih_attr=None, bias_hh_attr=None, proj_size=0,
    ):  # fmt: skip
        super().__init__()
        if direction not in ("forward", "bidirectional", "bidirect"):
            raise ValueError(
                f"direction should be forward or bidirect (or bidirectional), received direction = {direction}"
            )
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.dropout = dropout
        self.num_directions = 1 if direction == "forward" else 2
        self.time_major = time_major
        self.num_layers = num_layers
        self.state_components = 2 if mode == "LSTM" else 1
        self.proj_size = proj_size
        attrs = {
            "weight_ih_attr": weight_ih_attr, "weight_hh_attr": weight_hh_attr,
            "bias_ih_attr": bias_ih_attr, "bias_hh_attr": bias_hh_attr,
        }  # fmt: skip

        def cell(size):
            if mode == "LSTM":
                return LSTMCell(size, hidden_size, proj_size=proj_size, **attrs)
            if mode == "GRU":
                return GRUCell(size, hidden_size, **attrs)
            return SimpleRNNCell(size, hidden_size, "relu" if mode == "RNN_RELU" else "tanh", **attrs)

        size = input_size
        for _ in range(num_layers):
            if self.num_directions == 1:
                self.append(RNN(cell(size), False, time_major))
            else:
                self.append(BiRNN(cell(size), cell(size), time_major))
            size = (proj_size or hidden_size) * self.num_directions
        self._name_parameters()

    def _name_parameters(self):
        """Every parameter has a second name here, such as ``weight_ih_l0_reverse``."""
        for number, layer in enumerate(self):
            cells = [layer.cell] if self.num_directions == 1 else [layer.cell_fw, layer.cell_bw]
            for cell, suffix in zip(cells, ("", "_reverse")):
                for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                    if hasattr(cell, kind):
                        setattr(self, f"{kind}_l{number}{suffix}", getattr(cell, kind))

    def flatten_parameters(self):
        """Nothing to do: the parameters are used where they lie."""

    def _split(self, states):
        """[L * D, B, H] tensors as what each layer takes."""
        if self.state_components == 1:
            flat = paddle.unbind(states[0] if isinstance(states, (list, tuple)) else states, axis=0)
        else:
            flat = list(zip(*(paddle.unbind(s, axis=0) for s in states)))
        if self.num_directions == 1:
            return list(flat)
        return [(flat[2 * i], flat[2 * i + 1]) for i in range(self.num_layers)]

    def _join(self, states):
        flat = states if self.num_directions == 1 else [s for pair in states for s in pair]
        if self.state_components == 1:
            return paddle.stack(flat, axis=0)
        return tuple(paddle.stack(list(part), axis=0) for part in zip(*flat))

    def _weights(self):
        """The operator's list of parameters: all weights, then all biases; None where a cell has others than these."""
        cells = []
        for layer in self:
            cells += [layer.cell] if self.num_directions == 1 else [layer.cell_fw, layer.cell_bw]
        weights, biases = [], []
        for cell in cells:
            if type(cell) not in (SimpleRNNCell, LSTMCell, GRUCell) or len(cell.parameters()) != 4:
                return None
            weights += [cell.weight_ih, cell.weight_hh]
            biases += [cell.bias_ih, cell.bias_hh]
        return weights + biases

    def forward(self, inputs, initial_states=None, sequence_length=None):
        weights = self._weights()
        open_length = is_symint(inputs.shape[0 if self.time_major else 1])
        if weights is None or open_length:  # an open length is a loop
            return self._by_cells(inputs, initial_states, sequence_length)
        x = inputs if self.time_major else paddle.transpose(inputs, [1, 0, 2])
        if initial_states is None:
            shape = [self.num_layers * self.num_directions, x.shape[1], self.hidden_size]
            initial_states = [paddle.zeros(shape, x.dtype) for _ in range(self.state_components)]
        elif not isinstance(initial_states, (list, tuple)):
            initial_states = [initial_states]
        out, states = paddle._C_ops.rnn(
            x, list(initial_states), weights, sequence_length, paddle.zeros([0], "uint8"), float(self.dropout),
            self.num_directions == 2, self.input_size, self.hidden_size, self.num_layers, self.mode, 0,
            not self.training,
        )  # fmt: skip
        out = out if self.time_major else paddle.transpose(out, [1, 0, 2])
        return out, tuple(states) if self.state_components > 1 else states[0]

    def _by_cells(self, inputs, initial_states, sequence_length):
        states = [None] * self.num_layers if initial_states is None else self._split(initial_states)
        finals = []
        out = inputs
        for i, layer in enumerate(self):
            if i > 0 and self.dropout:
                out = F.dropout(out, self.dropout, training=self.training, mode="upscale_in_train")
            out, state = layer(out, states[i], sequence_length)
            if sequence_length is not None:
                out = self._without_padding(out, sequence_length)
            finals.append(state)
        return out, self._join(finals)

    def _without_padding(self, out, sequence_length):
        steps = out.shape[0 if self.time_major else 1]
        mask = F.sequence_mask(sequence_length, maxlen=steps, dtype=out.dtype)
        return out * (paddle.transpose(mask, [1, 0]) if self.time_major else mask).unsqueeze(-1)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.time_major is not False:
            text += f", time_major={self.time_major}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        return text


_DOC = """{what}

    Args:
        input_size, hidden_size, num_layers (int): sizes.
        direction (str): "forward", or "bidirect" ("bidirectional").
        time_major (bool): inputs are [T, B, input] rather than [B, T, input].
        dropout (float): between the layers, in training.{more}
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr (ParamAttr | bool, optional): of the parameters.

    `forward(inputs, initial_states=None, sequence_length=None)` gives (outputs [B, T, D * hidden], final states
    [L * D, B, hidden]), D the number of directions; outputs after `sequence_length` ([B]) are zero.
    """


class SimpleRNN(RNNBase):
    __doc__ = _DOC.format(what="Stacked simple recurrent layers.", more='\n        activation (str): "tanh" or "relu".')

    def __init__(
        self, input_size, hidden_size, num_layers=1, direction="forward", time_major=False, dropout=0.0,
        activation="tanh", weight_ih_attr=None, weight_hh_attr=None, bias_ih_attr=None, bias_hh_attr=None, name=None,
    ):  # fmt: skip
        if activation not in ("tanh", "relu"):
            raise ValueError(f"Unknown activation '{activation}'")
        self.activation = activation
        super().__init__(
            "RNN_RELU" if activation == "relu" else "RNN_TANH", input_size, hidden_size, num_layers, direction,
            time_major, dropout, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr,
        )  # fmt: skip


class LSTM(RNNBase):
    __doc__ = _DOC.format(
        what="Stacked long short-term memory layers; states are pairs (h, c).",
        more="\n        proj_size (int): size that h is projected to; 0 for none.",
    )

    def __init__(
        self, input_size, hidden_size, num_layers=1, direction="forward", time_major=False, dropout=0.0,
        weight_ih_attr=None, weight_hh_attr=None, bias_ih_attr=None, bias_hh_attr=None, proj_size=0, name=None,
    ):  # fmt: skip
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, direction, time_major, dropout, weight_ih_attr,
            weight_hh_attr, bias_ih_attr, bias_hh_attr, proj_size,
        )  # fmt: skip


class GRU(RNNBase):
    __doc__ = _DOC.format(what="Stacked gated recurrent layers.", more="")

    def __init__(
        self, input_size, hidden_size, num_layers=1, direction="forward", time_major=False, dropout=0.0,
        weight_ih_attr=None, weight_hh_attr=None, bias_ih_attr=None, bias_hh_attr=None, name=None,
    ):  # fmt: skip
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, direction, time_major, dropout, weight_ih_attr, weight_hh_attr,
            bias_ih_attr, bias_hh_attr,
        )  # fmt: skip
