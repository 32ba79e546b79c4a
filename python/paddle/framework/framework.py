"""What clients import from ``paddle.framework.framework``."""

from .dtype import get_default_dtype, set_default_dtype
from .flags import get_flags, set_flags
from .mode import in_dynamic_mode, in_pir_mode, use_pir_api

__all__ = ["set_default_dtype", "get_default_dtype"]
_ = get_flags, set_flags, in_dynamic_mode, in_pir_mode, use_pir_api
