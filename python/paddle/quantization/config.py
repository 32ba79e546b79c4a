"""Which layers get which quantisers."""

from __future__ import annotations

from ..nn import AvgPool2D, Conv2D, Layer, Linear, ReLU, quant
from ..nn.quant.stub import QuanterStub
from .wrapper import ObserveWrapper

__all__ = []

_QUANTED = {quant.Stub: QuanterStub, Linear: quant.qat.QuantedLinear, Conv2D: quant.qat.QuantedConv2D}
_LEAVES = (ReLU, AvgPool2D)


class SingleLayerConfig:
    """The factories of a layer's quantisers, each None where there is none."""

    def __init__(self, activation, weight) -> None:
        self._activation, self._weight = activation, weight

    activation = property(lambda self: self._activation, doc="for the input")
    weight = property(lambda self: self._weight, doc="for the weight")

    def __str__(self):
        return f"activation: {self._activation}\nweight: {self._weight}"


class QuantConfig:
    """Quantisers by layer, by name, by type, and for all others. What is said of a layer goes before what is said of its type, and
    that before what holds for the layer that it is in.

    Args:
        activation (QuanterFactory, optional): for the inputs of all layers.
        weight (QuanterFactory, optional): for the weights of all layers.
    """

    def __init__(self, activation, weight) -> None:
        nothing = activation is None and weight is None
        self._global_config = None if nothing else SingleLayerConfig(activation, weight)
        self._layer2config, self._prefix2config, self._type2config = {}, {}, {}
        self._model = None
        self._qat_layer_mapping = dict(_QUANTED)
        self._customized_qat_layer_mapping: dict = {}
        self._customized_leaves: list = []

    # -- what the user says
    def add_layer_config(self, layer, activation=None, weight=None) -> None:
        """Quantisers of a layer, or of each in a list.

        Args:
            layer (Layer | list): layers of the model that will be quantised.
            activation, weight (QuanterFactory, optional): of its input and weight.
        """
        for one in layer if isinstance(layer, list) else [layer]:
            self.add_name_config(one.full_name(), activation, weight)

    def add_name_config(self, layer_name, activation=None, weight=None) -> None:
        """Quantisers of the layers with a full name, or with each in a list; the arguments are those of ``add_layer_config``."""
        for name in layer_name if isinstance(layer_name, list) else [layer_name]:
            self._prefix2config[name] = SingleLayerConfig(activation, weight)

    def add_type_config(self, layer_type, activation=None, weight=None) -> None:
        """Quantisers of layers of a type, or of each in a list; the arguments are those of ``add_layer_config``."""
        for kind in layer_type if isinstance(layer_type, list) else [layer_type]:
            if isinstance(kind, type) and issubclass(kind, Layer):
                self._type2config[kind] = SingleLayerConfig(activation, weight)

    def add_qat_layer_mapping(self, source, target) -> None:
        """Layers of a type are replaced by layers of another, made with the layer and its SingleLayerConfig.

        Args:
            source, target (type): subclasses of ``nn.Layer``.

        Raises:
            AssertionError: they aren't.
        """
        for kind, what in ((source, "The source layer to be placed"), (target, "The target layer")):
            if not (isinstance(kind, type) and issubclass(kind, Layer)):
                raise AssertionError(f"{what} should be a subclass of paddle.nn.Layer")
        self._qat_layer_mapping[source] = self._customized_qat_layer_mapping[source] = target

    def add_customized_leaf(self, layer_type) -> None:
        """Layers of a type count as one, whatever they are made of.

        Args:
            layer_type (type): a subclass of ``nn.Layer``.
        """
        self._customized_leaves.append(layer_type)

    # -- what was said
    customized_leaves = property(lambda self: self._customized_leaves, doc="types that count as one layer")
    qat_layer_mappings = property(lambda self: self._qat_layer_mapping, doc="dict: type -> its quantised form")
    default_qat_layer_mapping = property(lambda self: _QUANTED, doc="the same without what the user added")
    global_config = property(lambda self: self._global_config, doc="SingleLayerConfig of all other layers, or None")

    def details(self) -> str:
        """The quantisers layer by layer, once a model was quantised; before that the configuration."""
        return str(self) if self._model is None else self._described(self._model)

    def _described(self, layer) -> str:
        lines = []
        for name, child in layer.named_children():
            if child in self._layer2config:
                inner = self._described(child).replace("\n", "\n  ")
                lines.append(f"({name}): {inner}, {self._layer2config[child]}")
        return f"{type(layer).__name__}(" + ("\n  " + "\n  ".join(lines) + "\n" if lines else "") + ")"

    def __str__(self):
        text = f"Global config:\n{self._global_config}\n"
        if self._type2config:
            text += f"Layer type config:\n{self._type2config}\n"
        if self._prefix2config:
            text += f"Layer prefix config: \n{self._prefix2config}\n"
        return text

    # -- for a model
    def _specify(self, model) -> None:
        """Finds the configuration of every layer inside the model."""
        self._model = model
        self._inherit(model, self._global_config)

    def _inherit(self, layer, outer) -> None:
        outer = self._layer2config.get(layer, outer)
        for child in layer.children():
            config = self._type2config.get(type(child), outer)
            config = self._prefix2config.get(child.full_name(), config)
            if config is not None:
                self._layer2config[child] = config
            self._inherit(child, self._global_config)

    def _config_of(self, layer):
        return self._layer2config.get(layer)

    def _quantised_form(self, layer):
        """The layer's quantised form, or None where it has no configuration, or its type no such form."""
        config, kind = self._config_of(layer), self._qat_layer_mapping.get(type(layer))
        return None if config is None or kind is None else kind(layer, config)

    def _observed(self, layer):
        """The layer behind a quantiser of its input; None where it is no leaf, or has none."""
        config = self._config_of(layer)
        leaf = isinstance(layer, _LEAVES) or not layer._sub_layers or type(layer) in self._customized_leaves
        if not leaf or config is None or config.activation is None:
            return None
        return ObserveWrapper(config.activation._instance(layer), layer)
