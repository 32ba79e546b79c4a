"""ParamAttr: what a layer's caller may ask of a parameter."""

from __future__ import annotations

from ..regularizer import WeightDecayRegularizer
from .initializer import Constant, XavierUniform
from .initializer.initializer import Initializer

__all__ = []


class ParamAttr:
    """Name, initializer, learning-rate factor, regularizer and clipping of one parameter.

    Args:
        name (str, optional): the parameter's name; generated when None.
        initializer (Initializer, optional): how it is filled; the layer's default when None.
        learning_rate (float): factor on the optimizer's learning rate for this parameter.
        regularizer (WeightDecayRegularizer, optional): replaces the optimizer's for this parameter.
        trainable (bool): whether gradients reach it.
        do_model_average (bool): whether model averaging takes it in.
        need_clip (bool): whether gradient clipping takes it in.
    """

    def __init__(
        self,
        name=None,
        initializer=None,
        learning_rate=1.0,
        regularizer=None,
        trainable=True,
        do_model_average=True,
        need_clip=True,
    ):
        self.name = name if name else None
        self.initializer = initializer
        self.learning_rate = learning_rate
        self.regularizer = regularizer
        self.trainable = trainable
        self.do_model_average = do_model_average
        self.need_clip = need_clip

    def _set_default_initializer(self, initializer):
        """Fills the initializer in, unless the user gave one."""
        if initializer is None and self.initializer is None:
            raise ValueError("ParamAttr.initializer is not set")
        if self.initializer is None:
            self.initializer = initializer

    def _set_default_param_initializer(self):
        self._set_default_initializer(XavierUniform())

    def _set_default_bias_initializer(self):
        self._set_default_initializer(Constant(0.0))

    @staticmethod
    def _to_attr(arg):
        """Turns whatever a `weight_attr` may be into ParamAttr, a list of them, or False (no parameter at all).

        None and True mean the default; a str is a name; an Initializer or regularizer stands for itself.
        """
        if arg is None:
            return ParamAttr()
        if isinstance(arg, (list, tuple)):
            return [ParamAttr._to_attr(a) for a in arg]
        if isinstance(arg, ParamAttr):
            return arg
        if isinstance(arg, str):
            return ParamAttr(name=arg)
        if isinstance(arg, Initializer):
            return ParamAttr(initializer=arg)
        if isinstance(arg, WeightDecayRegularizer):
            return ParamAttr(regularizer=arg)
        if isinstance(arg, bool):
            return ParamAttr._to_attr(None) if arg else False
        raise TypeError(f"{type(arg)} cast to ParamAttr")

    def _to_kwargs(self, with_initializer=False):
        """The attributes as keyword arguments of EagerParamBase."""
        kwargs = {
            "name": self.name,
            "optimize_attr": {"learning_rate": self.learning_rate},
            "regularizer": self.regularizer,
            "trainable": self.trainable,
            "do_model_average": self.do_model_average,
            "need_clip": self.need_clip,
        }
        if with_initializer:
            kwargs["initializer"] = self.initializer
        return kwargs


class WeightNormParamAttr(ParamAttr):
    """A ParamAttr that also asks for weight normalisation over every dimension but `dim` (int or None).

    Source: Salimans and Kingma, 2016 (https://arxiv.org/abs/1602.07868).
    """

    def __init__(
        self,
        dim=None,
        name=None,
        initializer=None,
        learning_rate=1.0,
        regularizer=None,
        trainable=True,
        do_model_average=False,
        need_clip=True,
    ):
        super().__init__(name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip)
        self.dim = dim
