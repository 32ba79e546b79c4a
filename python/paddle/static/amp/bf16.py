"""bfloat16 in static mode."""

from __future__ import annotations

import contextlib

from .decorator import OptimizerWithMixedPrecision, decorate
from .lists import AutoMixedPrecisionLists

__all__ = [
    "AutoMixedPrecisionListsBF16",
    "bf16_guard",
    "cast_model_to_bf16",
    "cast_parameters_to_bf16",
    "decorate_bf16",
]


class AutoMixedPrecisionListsBF16(AutoMixedPrecisionLists):
    """As ``AutoMixedPrecisionLists``; ``fp32_list`` is the black list."""

    def __init__(self, custom_bf16_list=None, custom_fp32_list=None, custom_fp32_varnames=None) -> None:
        super().__init__(custom_bf16_list, custom_fp32_list, custom_fp32_varnames, "bfloat16")
        self.bf16_list, self.fp32_list, self.fp32_varnames = self.white_list, self.black_list, self.black_varnames


@contextlib.contextmanager
def bf16_guard():
    """Marks operators for ``use_bf16_guard``. Here precision is chosen by the operators' lists alone."""
    yield


def decorate_bf16(optimizer, amp_lists=None, use_pure_bf16=False, use_bf16_guard=None) -> OptimizerWithMixedPrecision:
    """``static.amp.decorate`` with dtype bfloat16."""
    return decorate(optimizer, amp_lists, "O2" if use_pure_bf16 else "O1", "bfloat16")


def cast_model_to_bf16(*args, **kwargs):
    """Not available: a program's variables keep their types.

    Raises:
        NotImplementedError: always; use ``decorate_bf16``.
    """
    raise NotImplementedError("[cast_model_to_bf16] build the program under paddle.amp.auto_cast, or use decorate_bf16")


cast_parameters_to_bf16 = cast_model_to_bf16
