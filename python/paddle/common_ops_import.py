"""What old code imports in one go."""

from .base import core
from .base.data_feeder import check_dtype, check_type, check_variable_and_dtype, convert_dtype
from .base.layer_helper import LayerHelper
from .base.param_attr import ParamAttr
from .framework import _dygraph_tracer, convert_np_dtype_to_dtype_, dygraph_only, in_dygraph_mode

VarDesc = core.VarDesc
_ = check_dtype, check_type, check_variable_and_dtype, convert_dtype, LayerHelper, ParamAttr
_ = _dygraph_tracer, convert_np_dtype_to_dtype_, dygraph_only, in_dygraph_mode


def __getattr__(name):
    if name in ("Variable", "default_main_program", "device_guard"):
        import paddle

        return getattr(paddle.static, name)
    raise AttributeError(f"module 'paddle.common_ops_import' has no attribute {name!r}")
