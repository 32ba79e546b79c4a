"""Finding where numbers go wrong."""

from __future__ import annotations

import contextlib
import functools
from enum import Enum

from ..base import core

__all__ = [
    "DebugMode", "TensorCheckerConfig", "check_numerics", "enable_operator_stats_collection",
    "disable_operator_stats_collection", "collect_operator_stats", "enable_tensor_checker", "disable_tensor_checker",
    "compare_accuracy", "check_layer_numerics",
]  # fmt: skip


class DebugMode(Enum):
    """What is done about infinities and NaN."""

    CHECK_NAN_INF_AND_ABORT = 0
    CHECK_NAN_INF = 1
    CHECK_ALL_FOR_OVERFLOW = 2
    CHECK_ALL = 3
    CHECK_ALL_AND_ABORT = 4
    DUMP_ALL = 5


def check_numerics(tensor, op_type: str, var_name: str, debug_mode=DebugMode.CHECK_NAN_INF_AND_ABORT):
    """Counts what is wrong in ``tensor`` and says so.

    Returns:
        (int64 tensor of the numbers of NaN, infinities and zeros; float32 tensor of maximum, minimum, mean).

    Raises:
        RuntimeError: there are NaN or infinities and the mode is to abort.
    """
    import paddle

    values = tensor.astype("float32") if tensor.dtype in (core.float16, core.bfloat16) else tensor
    nans, infs = int(values.isnan().sum()), int(values.isinf().sum())
    zeros = int((values == 0).astype("int64").sum())
    stats = paddle.to_tensor([nans, infs, zeros], dtype="int64")
    summary = paddle.stack([values.max(), values.min(), values.mean()]).astype("float32")
    if nans or infs:
        text = f"[{op_type}] {var_name}: {nans} NaN and {infs} infinities among {int(tensor.size)} elements"
        if debug_mode in (DebugMode.CHECK_NAN_INF_AND_ABORT, DebugMode.CHECK_ALL_AND_ABORT):
            raise RuntimeError(text)
        print(text)
    return stats, summary


def enable_operator_stats_collection() -> None:
    """From here on calls of operators are counted by the dtype of their results."""
    core._core.enable_op_stats()


def disable_operator_stats_collection() -> None:
    """Stops counting and prints the table: a line for each operator, its calls in float16, bfloat16, float32, others."""
    table = core._core.disable_op_stats()
    print("<" + " op list ".center(118, "-") + ">")
    print("op".ljust(40) + "".join(c.rjust(16) for c in ("float16", "bfloat16", "float32", "other")))
    for op, counts in sorted(table.items()):
        print(op.ljust(40) + "".join(str(n).rjust(16) for n in counts))


@contextlib.contextmanager
def collect_operator_stats():
    """Counts calls of operators by dtype inside, and prints the table at the end."""
    enable_operator_stats_collection()
    try:
        yield
    finally:
        disable_operator_stats_collection()


class TensorCheckerConfig:
    """What ``enable_tensor_checker`` does: in the steps ``debug_step`` = [from, to) every operator's outputs are
    checked."""

    current_step_id = 0

    def __init__(
        self,
        enable: bool,
        debug_mode=DebugMode.CHECK_NAN_INF_AND_ABORT,
        output_dir=None,
        checked_op_list=None,
        skipped_op_list=None,
        debug_step=None,
        stack_height_limit: int = 1,
    ):
        self.enable, self.debug_mode, self.output_dir = enable, debug_mode, output_dir
        self.checked_op_list, self.skipped_op_list = checked_op_list, skipped_op_list
        if debug_step is not None and (len(debug_step) != 2 or not debug_step[0] < debug_step[1]):
            raise ValueError("debug_step must be a list or tuple of two numbers, the first smaller than the second")
        self.debug_step, self.stack_height_limit = debug_step, stack_height_limit

    def update_and_check_step_id(self) -> bool:
        """Counts one step; True if it is one to check."""
        if not self.enable:
            return False
        step = TensorCheckerConfig.current_step_id
        TensorCheckerConfig.current_step_id += 1
        return self.debug_step is None or self.debug_step[0] <= step < self.debug_step[1]

    def start_check_nan_inf(self) -> None:
        """Switches the check on: what it finds is an error in the modes that abort, a line on standard error in others."""
        from ..framework.flags import set_flags

        aborts = self.debug_mode in (DebugMode.CHECK_NAN_INF_AND_ABORT, DebugMode.CHECK_ALL_AND_ABORT)
        set_flags({"FLAGS_check_nan_inf": True, "FLAGS_check_nan_inf_level": 0 if aborts else 1})

    def stop_check_nan_inf(self) -> None:
        """Switches the check off."""
        from ..framework.flags import set_flags

        set_flags({"FLAGS_check_nan_inf": False})


def enable_tensor_checker(checker_config) -> None:
    """Checks the outputs of operators as ``checker_config`` says. Call it at the start of each step."""
    if checker_config.update_and_check_step_id():
        checker_config.start_check_nan_inf()
    else:
        checker_config.stop_check_nan_inf()


def disable_tensor_checker() -> None:
    """Ends ``enable_tensor_checker``."""
    from ..framework.flags import set_flags

    set_flags({"FLAGS_check_nan_inf": False})


def compare_accuracy(dump_path, another_dump_path, output_filename, loss_scale=1, dump_all_tensors=False) -> None:
    """Not available: operators' outputs are not dumped to files."""
    raise NotImplementedError("[amp.debugging] compare_accuracy needs dumped tensors, which are not written")


def check_layer_numerics(func):
    """A ``forward`` whose tensor inputs and outputs are checked for NaN and infinities."""

    @functools.wraps(func)
    def wrapper(self, *args, **kwargs):
        for i, value in enumerate(args):
            if isinstance(value, core.Tensor):
                check_numerics(value, type(self).__name__, f"input {i}")
        outputs = func(self, *args, **kwargs)
        for i, value in enumerate(outputs if isinstance(outputs, (list, tuple)) else [outputs]):
            if isinstance(value, core.Tensor):
                check_numerics(value, type(self).__name__, f"output {i}")
        return outputs

    return wrapper
