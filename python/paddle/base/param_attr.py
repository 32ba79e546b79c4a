"""ParamAttr, where clients look for it."""

from ..nn._param_attr import ParamAttr, WeightNormParamAttr

__all__ = ["ParamAttr"]

for _class in (ParamAttr, WeightNormParamAttr):
    _class.__module__ = __name__  # as pickles and messages name them
