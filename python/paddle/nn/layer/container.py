"""Layers and parameters in lists and dicts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from ...base.framework import EagerParamBase
from .._alias import accepts
from .layers import Layer

__all__ = ["LayerDict", "LayerList", "ParameterDict", "ParameterList", "Sequential"]


class Sequential(Layer):
    """Runs layers one after the other.

    Args:
        layers: Layers, or (name, Layer) pairs, or one OrderedDict of them. Without names they are called "0", "1", ...
    """

    def __init__(self, *layers):
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], OrderedDict):
            for name, layer in layers[0].items():
                self.add_sublayer(name, layer)
        elif layers and isinstance(layers[0], (list, tuple)):
            for name, layer in layers:
                self.add_sublayer(name, layer)
        else:
            for index, layer in enumerate(layers):
                self.add_sublayer(str(index), layer)

    def __getitem__(self, name):
        if isinstance(name, slice):
            return type(self)(*list(self._sub_layers.values())[name])
        if isinstance(name, str):
            return self._sub_layers[name]
        return list(self._sub_layers.values())[self._position(name)]

    def _position(self, index):
        size = len(self._sub_layers)
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of range")
        return index % size

    def __setitem__(self, name, layer):
        assert isinstance(layer, Layer)
        setattr(self, str(name), layer)

    def __delitem__(self, name):
        name = str(name)
        assert name in self._sub_layers
        del self._sub_layers[name]

    def __len__(self):
        return len(self._sub_layers)

    def __iter__(self):
        return iter(self._sub_layers.values())

    def append(self, module):
        """Adds `module` (Layer) at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        """Inserts `module` (Layer) before position `index`, from -len to len; returns self. IndexError beyond."""
        if not isinstance(module, Layer):
            raise AssertionError(f"module should be of type: {Layer}")
        size = len(self._sub_layers)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        if index < 0:
            index += size
        for i in range(size, index, -1):
            self._sub_layers[str(i)] = self._sub_layers[str(i - 1)]
        self._sub_layers[str(index)] = module
        return self

    def extend(self, sequential):
        """Appends the layers of another iterable; returns self."""
        for layer in sequential:
            self.append(layer)
        return self

    def forward(self, input):
        for layer in self._sub_layers.values():
            input = layer(input)
        return input


class LayerList(Layer):
    """A list of layers.

    Args:
        sublayers (iterable of Layer, optional): the first items; `modules` is a second name for it.
    """

    @accepts(sublayers="modules")
    def __init__(self, sublayers=None):
        super().__init__()
        if sublayers is not None:
            for index, layer in enumerate(sublayers):
                self.add_sublayer(str(index), layer)

    def _get_abs_idx(self, idx):
        if not isinstance(idx, int):
            return idx
        size = len(self._sub_layers)
        if not -size <= idx < size:
            raise IndexError(f"index {idx} is out of range, should be an integer in range [{-size}, {size})")
        return idx + size if idx < 0 else idx

    def _get_abs_string_index(self, idx):
        return str(self._get_abs_idx(idx))

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return type(self)(list(self._sub_layers.values())[idx])
        return self._sub_layers[str(self._get_abs_idx(idx))]

    def __setitem__(self, idx, sublayer):
        setattr(self, str(self._get_abs_idx(idx)), sublayer)

    def __delitem__(self, idx):
        if isinstance(idx, slice):
            for key in range(len(self._sub_layers))[idx]:
                delattr(self, str(key))
        else:
            delattr(self, str(self._get_abs_idx(idx)))
        self._renumber(list(self._sub_layers.values()))

    def _renumber(self, layers):
        self._sub_layers = OrderedDict((str(i), layer) for i, layer in enumerate(layers))

    def __len__(self):
        return len(self._sub_layers)

    def __iter__(self):
        return iter(self._sub_layers.values())

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return type(self)([*self, *other])

    def __dir__(self):
        return [key for key in super().__dir__() if not key.isdigit()]

    @accepts(sublayer="module")
    def append(self, sublayer):
        """Adds `sublayer` (Layer) at the end; returns self."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    @accepts(sublayer="module")
    def insert(self, index, sublayer):
        """Inserts `sublayer` (Layer) before position `index` in [-len, len]."""
        size = len(self._sub_layers)
        if not (isinstance(index, int) and -size <= index <= size):
            raise AssertionError(f"index should be an integer in range [{-size}, {size}]")
        layers = list(self._sub_layers.values())
        layers.insert(index, sublayer)
        self._renumber(layers)

    @accepts(sublayers="modules")
    def extend(self, sublayers):
        """Adds all of `sublayers` (iterable of Layer) at the end; returns self."""
        for layer in list(sublayers):
            self.add_sublayer(str(len(self)), layer)
        return self

    def pop(self, key):
        """Takes the layer at `key` (int or slice) out and returns it."""
        value = self[key]
        del self[key]
        return value


class LayerDict(Layer):
    """Layers by name, in order.

    Args:
        sublayers (LayerDict | Mapping | sequence of (str, Layer), optional): `modules` is a second name for it.
    """

    @accepts(sublayers="modules")
    def __init__(self, sublayers=None):
        super().__init__()
        if sublayers is not None:
            self.update(sublayers)

    def __getitem__(self, key):
        return self._sub_layers[key]

    def __setitem__(self, key, sublayer):
        return self.add_sublayer(key, sublayer)

    def __delitem__(self, key):
        del self._sub_layers[key]

    def __len__(self):
        return len(self._sub_layers)

    def __iter__(self):
        return iter(self._sub_layers)

    def __contains__(self, key):
        return key in self._sub_layers

    def clear(self):
        """Takes every layer out."""
        self._sub_layers.clear()

    def pop(self, key):
        """Takes the layer called `key` out and returns it; KeyError if there is none."""
        return self._sub_layers.pop(key)

    def keys(self):
        """The names."""
        return self._sub_layers.keys()

    def items(self):
        """(name, Layer) pairs."""
        return self._sub_layers.items()

    def values(self):
        """The layers."""
        return self._sub_layers.values()

    @accepts(sublayers="modules")
    def update(self, sublayers):
        """Adds or replaces layers from a LayerDict, a mapping, or pairs; TypeError or ValueError for other things."""
        for key, layer in _pairs(sublayers, "sublayers"):
            self.add_sublayer(key, layer)


class ParameterList(Layer):
    """A list of parameters.

    Args:
        parameters (iterable of Parameter, optional): `values` is a second name for it.
    """

    @accepts(parameters="values")
    def __init__(self, parameters=None):
        super().__init__()
        if parameters is not None:
            for index, parameter in enumerate(parameters):
                assert isinstance(parameter, EagerParamBase)
                self.add_parameter(str(index), parameter)

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return type(self)(list(self._parameters.values())[idx])
        size = len(self._parameters)
        if not -size <= idx < size:
            raise IndexError(f"index {idx} is out of range")
        return self._parameters[str(idx % size)]

    def __setitem__(self, idx, param):
        assert isinstance(param, EagerParamBase)
        setattr(self, str(idx), param)

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())

    @accepts(parameter="value")
    def append(self, parameter):
        """Adds `parameter` at the end; returns self."""
        self.add_parameter(str(len(self._parameters)), parameter)
        return self


class ParameterDict(Layer):
    """Parameters by name, in order.

    Args:
        parameters (ParameterDict | Mapping | sequence of (str, Parameter), optional): `values` is a second name for it.
    """

    @accepts(parameters="values")
    def __init__(self, parameters=None):
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        return self._parameters[key]

    def __setitem__(self, key, param):
        assert isinstance(param, EagerParamBase)
        setattr(self, key, param)

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters)

    def update(self, parameters):
        """Adds or replaces parameters from a ParameterDict, a mapping, or pairs."""
        for key, parameter in _pairs(parameters, "parameters"):
            self.add_parameter(key, parameter)


def _pairs(source, what):
    """(name, value) pairs out of a mapping, a container of ours, or pairs."""
    if isinstance(source, LayerDict):
        return list(source.items())
    if isinstance(source, ParameterDict):
        return list(source._parameters.items())
    if isinstance(source, Mapping):
        return list(source.items())
    if not isinstance(source, Iterable):
        raise TypeError(f"The type of {what} is not iterable, received {type(source).__name__}")
    pairs = list(source)
    for pair in pairs:
        if len(pair) != 2:
            raise ValueError(f"The length of each pair in {what} must be 2, but received {len(pair)}")
    return pairs
