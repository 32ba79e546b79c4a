"""Which operators compute in low precision."""

from __future__ import annotations

import contextlib

__all__ = ["AutoMixedPrecisionLists", "CustomOpLists", "cast_model_to_fp16", "cast_parameters_to_fp16", "fp16_guard"]


class AutoMixedPrecisionLists:
    """Operators' names that win over their records: white ones compute in low precision, black ones in float32.

    Raises:
        ValueError: a name is in both lists.
    """

    def __init__(
        self, custom_white_list=None, custom_black_list=None, custom_black_varnames=None, dtype="float16"
    ) -> None:
        self.white_list, self.black_list = set(custom_white_list or ()), set(custom_black_list or ())
        self.black_varnames = set(custom_black_varnames or ())
        self.amp_dtype = dtype
        both = sorted(self.white_list & self.black_list)
        if both:
            raise ValueError(f"Custom white list overlap custom black list: {both}")


CustomOpLists = AutoMixedPrecisionLists


@contextlib.contextmanager
def fp16_guard():
    """Marks operators for ``use_fp16_guard``. Here precision is chosen by the operators' lists alone."""
    yield


def cast_model_to_fp16(program, amp_lists=None, use_fp16_guard=True, **kwargs):
    """Not available: a program's variables keep their types.

    Raises:
        NotImplementedError: always; build the program under ``paddle.amp.auto_cast``, or use ``decorate``.
    """
    raise NotImplementedError(
        "[cast_model_to_fp16] build the program under paddle.amp.auto_cast, or use static.amp.decorate"
    )


def cast_parameters_to_fp16(place, program, scope=None, to_fp16_var_names=None, **kwargs):
    """Not available: parameters keep their types.

    Raises:
        NotImplementedError: always; see ``cast_model_to_fp16``.
    """
    raise NotImplementedError("[cast_parameters_to_fp16] parameters stay float32: use static.amp.decorate")
