"""The best sequence of labels of a linear-chain conditional random field (Viterbi, 1967)."""

from __future__ import annotations

from paddle import _C_ops
from paddle.nn import Layer

__all__ = []


def viterbi_decode(potentials, transition_params, lengths, include_bos_eos_tag=True, name=None):
    """The best labels of each sequence and their score.

    Args:
        potentials (Tensor): [batch, length, labels], float32 or float64: how well a label fits a place.
        transition_params (Tensor): [labels, labels]: how well the second label follows the first.
        lengths (Tensor): [batch], int64.
        include_bos_eos_tag (bool): whether the last label is the beginning, and the last but one the end, of sequences.

    Returns:
        (scores [batch], labels [batch, longest length] int64, 0 behind a sequence's end).

    Raises:
        ValueError: shapes don't fit. TypeError: dtypes don't.
    """
    return _C_ops.viterbi_decode(potentials, transition_params, lengths, include_bos_eos_tag)


class ViterbiDecoder(Layer):
    """``viterbi_decode`` with transitions of its own: called with potentials and lengths.

    Args:
        transitions (Tensor): [labels, labels].
        include_bos_eos_tag (bool): as in ``viterbi_decode``.
    """

    def __init__(self, transitions, include_bos_eos_tag=True, name=None):
        super().__init__()
        self.transitions, self.include_bos_eos_tag, self.name = transitions, include_bos_eos_tag, name

    def forward(self, potentials, lengths):
        return viterbi_decode(potentials, self.transitions, lengths, self.include_bos_eos_tag)
