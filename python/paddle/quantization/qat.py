"""Training with quantisers (Jacob et al., "Quantization and training of neural networks", 2018)."""

from __future__ import annotations

import copy

from .quantize import Quantization

__all__ = []


class QAT(Quantization):
    """Puts quantisers into a model that is trained with them.

    Args:
        config (QuantConfig): which layers get which.
    """

    def quantize(self, model, inplace=False):
        """The model with quantisers.

        Args:
            model (Layer): in training mode.
            inplace (bool): whether the model itself is changed.

        Returns:
            Layer.

        Raises:
            AssertionError: the model is in evaluation mode.
        """
        if not model.training:
            raise AssertionError(
                "Quantization-Aware Training should work on training models. Please set training mode by model.train()."
            )
        return self._put_quanters(model if inplace else copy.deepcopy(model))
