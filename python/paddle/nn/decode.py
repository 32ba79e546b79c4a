"""Beam search and the loop that decodes step by step."""

from __future__ import annotations

from collections import namedtuple

import paddle

from . import functional as F
from .layer.rnn_cells import _map

__all__ = []


def _map_many(function, *structures):
    first = structures[0]
    if isinstance(first, dict):
        return {key: _map_many(function, *(s[key] for s in structures)) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(_map_many(function, *parts) for parts in zip(*structures)))
    if isinstance(first, (list, tuple)):
        return type(first)(_map_many(function, *parts) for parts in zip(*structures))
    return function(*structures)


class Decoder:
    """What `dynamic_decode` runs.

    `initialize(inits)` gives (inputs, states, finished); `step(time, inputs, states)` gives (outputs, states, inputs
    of the
    next step, finished); `finalize(outputs, states, lengths)`, where it exists, has the last word.
    """

    def initialize(self, inits):
        """(initial inputs, initial states, finished [batch])."""
        raise NotImplementedError

    def step(self, time, inputs, states, **kwargs):
        """(outputs, next states, next inputs, finished)."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self):
        """Whether the decoder reorders what has finished itself."""
        return False

    def finalize(self, outputs, final_states, sequence_lengths):
        """(final outputs, final states) from what all steps gave, time first."""
        raise NotImplementedError


class BeamSearchDecoder(Decoder):
    """Beam search over a recurrent cell.

    Args:
        cell (RNNCellBase): one step; gets inputs and states of batch * beam.
        start_token, end_token (int): first token, and the one that ends a beam.
        beam_size (int): how many beams.
        embedding_fn (callable, optional): tokens to inputs.
        output_fn (callable, optional): the cell's outputs to logits over the vocabulary.
    """

    OutputWrapper = namedtuple("OutputWrapper", ("scores", "predicted_ids", "parent_ids"))
    StateWrapper = namedtuple("StateWrapper", ("cell_states", "log_probs", "finished", "lengths"))

    def __init__(self, cell, start_token, end_token, beam_size, embedding_fn=None, output_fn=None):
        self.cell = cell
        self.embedding_fn = embedding_fn
        self.output_fn = output_fn
        self.start_token = start_token
        self.end_token = end_token
        self.beam_size = beam_size
        self.kinf = 1e9

    @staticmethod
    def tile_beam_merge_with_batch(x, beam_size):
        """Repeats every sample `beam_size` times: [B, ...] to [B * beam, ...]."""
        return paddle.repeat_interleave(x, beam_size, axis=0)

    def _split_batch_beams(self, x):
        return x.reshape([-1, self.beam_size, *x.shape[1:]])

    def _merge_batch_beams(self, x):
        return x.reshape([-1, *x.shape[2:]])

    def _expand_to_beam_size(self, x):
        return paddle.tile(x.unsqueeze(1), [1, self.beam_size] + [1] * (len(x.shape) - 1))

    def _mask_probs(self, probs, finished):
        """A finished beam can only go on with the end token, at no cost."""
        stay = paddle.full([self.vocab_size], -self.kinf, probs.dtype)
        stay[self.end_token] = 0.0
        return paddle.where(finished.unsqueeze(-1), stay.reshape([1, 1, -1]), probs)

    def _gather(self, x, indices, batch_size):
        """Beams of `x` ([B, beam, ...]) in the order `indices` ([B, beam])."""
        offset = paddle.arange(0, batch_size, dtype="int64").unsqueeze(1) * self.beam_size
        flat = self._merge_batch_beams(x)
        picked = paddle.index_select(flat, (indices.astype("int64") + offset).flatten(), axis=0)
        return self._split_batch_beams(picked)

    def initialize(self, initial_cell_states):
        """(inputs, StateWrapper, finished): every beam begins with the start token, and only the first one counts."""
        first = initial_cell_states
        while isinstance(first, (list, tuple)):
            first = first[0]
        self.batch_size = first.shape[0]
        cell_states = _map(self._expand_to_beam_size, initial_cell_states)
        shape = [self.batch_size, self.beam_size]
        tokens = paddle.full(shape, self.start_token, "int64")
        log_probs = paddle.tile(
            paddle.to_tensor([[0.0] + [-self.kinf] * (self.beam_size - 1)], dtype=paddle.get_default_dtype()),
            [self.batch_size, 1],
        )
        finished = paddle.zeros(shape, "bool")
        inputs = self.embedding_fn(tokens) if self.embedding_fn else tokens
        return inputs, self.StateWrapper(cell_states, log_probs, finished, paddle.zeros(shape, "int64")), finished

    def _beam_search_step(self, time, logits, next_cell_states, beam_state):
        self.vocab_size = logits.shape[-1]
        probs = self._mask_probs(paddle.log(F.softmax(logits)), beam_state.finished)
        total = (probs + beam_state.log_probs.unsqueeze(-1)).reshape([-1, self.beam_size * self.vocab_size])
        scores, index = paddle.topk(total, k=self.beam_size)
        beam, token = index // self.vocab_size, index % self.vocab_size
        states = _map(lambda x: self._gather(x, beam, self.batch_size), next_cell_states)
        finished = self._gather(beam_state.finished, beam, self.batch_size)
        lengths = self._gather(beam_state.lengths, beam, self.batch_size)
        lengths = lengths + paddle.logical_not(finished).astype("int64")
        finished = paddle.logical_or(finished, token == self.end_token)
        return self.OutputWrapper(scores, token, beam), self.StateWrapper(states, scores, finished, lengths)

    def step(self, time, inputs, states, **kwargs):
        """One step of all beams."""
        inputs = _map(self._merge_batch_beams, inputs)
        merged = _map(self._merge_batch_beams, states.cell_states)
        outputs, new_states = self.cell(inputs, merged, **kwargs)
        outputs, new_states = _map(self._split_batch_beams, outputs), _map(self._split_batch_beams, new_states)
        logits = outputs if self.output_fn is None else self.output_fn(outputs)
        output, state = self._beam_search_step(time, logits, new_states, states)
        tokens = output.predicted_ids
        tokens.stop_gradient = True
        return output, state, self.embedding_fn(tokens) if self.embedding_fn else tokens, state.finished

    def finalize(self, outputs, final_states, sequence_lengths):
        """The tokens of whole beams, [T, B, beam]."""
        return F.gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states

    @property
    def tracks_own_finished(self):
        """True: beams change places at every step."""
        return True


def _keeper(finished):
    """Chooses the old state where a sample has finished."""

    def choose(new, old):
        return paddle.where(finished.reshape([-1] + [1] * (len(new.shape) - 1)), old, new)

    return choose


def dynamic_decode(
    decoder, inits=None, max_step_num=None, output_time_major=False, impute_finished=False, is_test=False,
    return_length=False, **kwargs,
):  # fmt: skip
    """Steps `decoder` until everything has finished.

    Args:
        decoder (Decoder): what to run.
        inits: argument of its `initialize`.
        max_step_num (int, optional): the last step's number.
        output_time_major (bool): outputs are [T, B, ...] rather than [B, T, ...].
        impute_finished (bool): samples that have finished keep their states.
        is_test (bool): accepted.
        return_length (bool): also return the lengths.
        **kwargs: for `step`.

    Returns:
        (outputs, final states), and the lengths if asked for.
    """
    inputs, states, finished = decoder.initialize(inits)
    lengths = paddle.zeros_like(finished.astype("int64"))
    steps, step = [], 0
    while not bool(paddle.all(finished)):
        time = paddle.full([1], step, "int64")
        output, new_states, inputs, now = decoder.step(time, inputs, states, **kwargs)
        if not decoder.tracks_own_finished:
            now = paddle.logical_or(now, finished)
            lengths = lengths + paddle.logical_not(finished).astype("int64")
            if impute_finished:
                new_states = _map_many(_keeper(finished), new_states, states)
        else:
            lengths = getattr(new_states, "lengths", lengths)
        steps.append(output)
        states, finished, step = new_states, now, step + 1
        if max_step_num is not None and step > max_step_num:
            break
    outputs = _map_many(lambda *parts: paddle.stack(parts, axis=0), *steps)
    try:
        outputs, states = decoder.finalize(outputs, states, lengths)
    except NotImplementedError:
        pass
    if not output_time_major:
        outputs = _map_many(lambda x: paddle.transpose(x, [1, 0, *range(2, len(x.shape))]), outputs)
    return (outputs, states, lengths) if return_length else (outputs, states)
