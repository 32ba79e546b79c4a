"""Factories: what a configuration names, and what makes a quantiser for each layer."""

from __future__ import annotations

import abc
import sys

__all__ = []


class QuanterFactory(metaclass=abc.ABCMeta):
    """A class of quantisers and the arguments to make them with."""

    def __init__(self, *args, **kwargs) -> None:
        self._args, self._kwargs = args, kwargs

    args = property(lambda self: self._args, doc="positional arguments")
    kwargs = property(lambda self: self._kwargs, doc="keyword arguments")

    @abc.abstractmethod
    def _get_class(self):
        """The class of the quantisers."""

    def _instance(self, layer):
        """A quantiser for the layer."""
        return self._get_class()(layer, *self._args, **self._kwargs)

    def __str__(self):
        arguments = [str(a) for a in self._args] + [f"{k}={v}" for k, v in self._kwargs.items()]
        return f"{type(self).__name__}({','.join(arguments)})"

    __repr__ = __str__


ObserverFactory = QuanterFactory


def quanter(class_name):
    """A decorator for classes of quantisers: it adds their factory, ``class_name``, to the module.

    Args:
        class_name (str): the factory's name. It takes the arguments of the class but for the layer.
    """

    def decorate(target):
        factory = type(class_name, (QuanterFactory,), {"_get_class": lambda self: target, "__module__": target.__module__})
        factory.__doc__ = f"Makes quantisers of the class {target.__name__}."
        module = sys.modules[target.__module__]
        setattr(module, class_name, factory)
        if "__all__" in vars(module) and class_name not in module.__all__:
            module.__all__.append(class_name)
        return target

    return decorate
