"""ParamAttr, where clients look for it."""

from ..nn._param_attr import ParamAttr, WeightNormParamAttr

__all__ = ["ParamAttr"]
_ = WeightNormParamAttr
