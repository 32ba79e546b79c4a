"""Quantisation after training: a few batches are run, and what layers see is measured."""

from __future__ import annotations

import copy

from .quantize import Quantization

__all__ = []


class PTQ(Quantization):
    """Puts observers into a trained model.

    Args:
        config (QuantConfig): which layers get which.
    """

    def quantize(self, model, inplace=False):
        """The model with observers, in evaluation mode.

        Args:
            model (Layer): a trained model; in evaluation mode, where it is changed itself.
            inplace (bool): whether the model itself is changed.

        Returns:
            Layer.

        Raises:
            AssertionError: the model is in training mode.
        """
        if model.training:
            raise AssertionError(
                "Post-Training Quantization should not work on training models. Please set evaluation mode by model.eval()."
            )
        return self._put_quanters(model if inplace else copy.deepcopy(model))
