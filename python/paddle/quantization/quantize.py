"""What quantisation in training and after it share."""

from __future__ import annotations

import abc
import copy

from ..nn.quant.format import ConvertibleQuantedLayer, LinearQuanterDequanter
from .base_quanter import BaseQuanter

__all__ = []


class Quantization(metaclass=abc.ABCMeta):
    """Puts quantisers into models, and takes what they measured as constants.

    Args:
        config (QuantConfig): which layers get which.
    """

    def __init__(self, config) -> None:
        self._config = copy.deepcopy(config)

    @abc.abstractmethod
    def quantize(self, model, inplace=False):
        """The model with quantisers."""

    def convert(self, model, inplace=False, remain_weight=False):
        """The model for inference: quantisers become constants.

        Args:
            model (Layer): what ``quantize`` made, trained or run.
            inplace (bool): whether the model itself is changed.
            remain_weight (bool): True leaves the weights as they are, False makes them integers.

        Returns:
            Layer.
        """
        model = model if inplace else copy.deepcopy(model)
        for name, child in list(model.named_children()):
            if isinstance(child, ConvertibleQuantedLayer):
                quanter = getattr(child, "weight_quanter", None)
                measured = quanter is not None and quanter.scales() is not None
                if not child.converted and (measured or not hasattr(child, "weight_quanter")):
                    child._convert(remain_weight)
            elif isinstance(child, BaseQuanter):
                model._sub_layers[name] = LinearQuanterDequanter.from_quanter(child)
            else:
                self.convert(child, inplace=True, remain_weight=remain_weight)
        return model

    def _put_quanters(self, model):
        self._config._specify(model)
        self._replace(model, self._config._quantised_form)
        self._replace(model, self._config._observed)
        return model

    def _replace(self, model, form) -> None:
        """Every layer inside that has a `form` becomes it; what is inside of a quantised layer stays."""
        quantised = tuple(self._config.qat_layer_mappings.values())
        for name, child in list(model.named_children()):
            new = form(child)
            if new is not None:
                model._sub_layers[name] = new
            elif not isinstance(child, quantised):
                self._replace(child, form)

    def __str__(self):
        return self._config.details()

    __repr__ = __str__
