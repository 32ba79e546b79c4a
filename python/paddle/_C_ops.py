"""Every operator under its own name, in the argument order of its record: ``_C_ops.softmax(x, axis)``."""

from paddle import _core

globals().update(_core._ops)
