"""Old names of dynamic mode."""

from .base import disable_dygraph, enable_dygraph, enabled, grad, guard, no_grad, no_grad_, param_guard, to_variable

__all__ = ["no_grad", "no_grad_", "grad", "guard", "enable_dygraph", "disable_dygraph", "enabled", "to_variable"]
_ = no_grad, no_grad_, grad, guard, enable_dygraph, disable_dygraph, enabled, param_guard, to_variable
