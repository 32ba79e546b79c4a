"""Optimizers whose ``minimize`` makes the program compute in mixed precision."""

from __future__ import annotations

import paddle

from ..._core import ir, trace
from ...base import unique_name
from ..program import default_main_program
from ..variables import create_global_var
from .lists import AutoMixedPrecisionLists

__all__ = ["OptimizerWithMixedPrecision", "decorate"]


class OptimizerWithMixedPrecision:
    """An optimizer that recomputes the loss in mixed precision, scales it, and skips steps whose gradients overflow."""

    def __init__(
        self, optimizer, lists, level, dtype, init_scaling, dynamic, incr_every, decr_every, incr, decr
    ) -> None:
        self._optimizer, self._lists, self._level, self._dtype = optimizer, lists, level, dtype
        self._init_scaling, self._dynamic = float(init_scaling), bool(dynamic)
        self._incr_every, self._decr_every, self._incr, self._decr = incr_every, decr_every, incr, decr
        self._scaling = self._found = None
        self._scaled = dtype == "float16"

    def __getattr__(self, name):
        return getattr(self.__dict__["_optimizer"], name)

    def amp_init(self, place, scope=None, test_program=None, use_fp16_test=False, rewrite_master_weight=False) -> None:
        """Nothing to do: parameters stay float32 and are cast where they are used."""

    def get_loss_scaling(self):
        """The variable that the loss is multiplied with; None where nothing is scaled."""
        return self._scaling

    def get_scaled_loss(self):
        """The loss times the scaling."""
        return self._scaled_loss

    def backward(self, loss, startup_program=None, parameter_list=None, no_grad_set=None, callbacks=None):
        """Recomputes ``loss`` in mixed precision and appends its gradients; pairs of (parameter, scaled gradient)."""
        main = default_main_program()
        with paddle.amp.auto_cast(
            True, self._lists.white_list or None, self._lists.black_list or None, level=self._level, dtype=self._dtype
        ):
            fresh = ir.replay(main, loss)
        if fresh.dtype != loss.dtype:
            fresh = fresh.astype(loss.dtype)
        trace.rebind(loss, fresh)
        scaled = loss
        if self._scaled:
            name = unique_name.generate("loss_scaling")
            self._scaling = create_global_var([1], self._init_scaling, "float32", True, name=name)
            scaled = loss * self._scaling.reshape([]).astype(loss.dtype)
        self._scaled_loss = scaled
        return self._optimizer.backward(scaled, startup_program, parameter_list, no_grad_set, callbacks)

    def apply_gradients(self, params_grads):
        """Unscales the gradients and updates, except where one of them is not finite."""
        if not self._scaled:
            return self._optimizer.apply_gradients(params_grads)
        main = default_main_program()
        with paddle.no_grad():
            finite = [paddle.all(paddle.isfinite(g)) for _, g in params_grads]
            good = paddle.all(paddle.stack(finite))
            self._found = paddle.logical_not(good)
            scale = self._scaling.reshape([])
            zero = paddle.zeros([], "float32")
            pairs = [(p, paddle.where(good, g.astype("float32") / scale, zero)) for p, g in params_grads]
            # Whatever the update writes keeps its value where a gradient is not finite.
            before = {name: now for name, _, _, now in ir.states(main)}
            operators = self._optimizer.apply_gradients(pairs)
            role, main._role = main._role, 2
            for name, handle, original, now in ir.states(main):
                old = before.get(name, original)
                if not ir.same_value(main, now, old):
                    trace.rebind(handle, paddle.where(good, now, old))
            self._update_scaling(good)
            main._role = role
        return operators

    def _update_scaling(self, good) -> None:
        if not self._dynamic:
            return
        counts = [
            create_global_var([1], 0, "int32", True, name=unique_name.generate("num_" + kind))
            for kind in ("good_steps", "bad_steps")
        ]
        good_now = paddle.where(good, counts[0] + 1, paddle.zeros_like(counts[0]))
        bad_now = paddle.where(good, paddle.zeros_like(counts[1]), counts[1] + 1)
        grow, shrink = good_now >= self._incr_every, bad_now >= self._decr_every
        scale = paddle.where(grow, self._scaling * self._incr, self._scaling)
        scale = paddle.where(shrink, paddle.maximum(scale * self._decr, paddle.ones_like(scale)), scale)
        zero = paddle.zeros_like(good_now)
        for variable, value in zip(
            (*counts, self._scaling), (paddle.where(grow, zero, good_now), paddle.where(shrink, zero, bad_now), scale)
        ):
            trace.rebind(variable, value)

    def minimize(self, loss, startup_program=None, parameter_list=None, no_grad_set=None):
        """Appends what computes the gradients and updates; ([operators], pairs)."""
        pairs = self.backward(loss, startup_program, parameter_list, no_grad_set)
        return self.apply_gradients(pairs), pairs


def decorate(
    optimizer,
    amp_lists=None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight=None,
    master_grad: bool = False,
    init_loss_scaling: float = 2.0**16,
    incr_every_n_steps: int = 2000,
    decr_every_n_nan_or_inf: int = 1,
    incr_ratio: float = 2.0,
    decr_ratio: float = 0.5,
    use_dynamic_loss_scaling=None,
    use_amp_guard: bool = False,
    use_master_grad: bool = False,
    use_promote: bool = False,
    use_pure_fp16: bool = False,
    use_fp16_guard=None,
    use_bf16: bool = False,
    **kwargs,
) -> OptimizerWithMixedPrecision:
    """An optimizer whose ``minimize`` makes the program compute in mixed precision.

    Args:
        amp_lists: ``AutoMixedPrecisionLists``; None: as the operators' records say.
        level: "O1": white operators in ``dtype``; "O2": all but black ones. Parameters stay float32, and are cast.
        dtype: "float16" (with a scaled loss) or "bfloat16".
        init_loss_scaling, incr_every_n_steps, decr_every_n_nan_or_inf, incr_ratio, decr_ratio, use_dynamic_loss_scaling: how
            the loss is scaled, and how that changes after steps that overflow or don't.

    Raises:
        ValueError: another level or dtype.
    """
    level = "O2" if use_pure_fp16 else level
    dtype = "bfloat16" if use_bf16 else str(dtype).rsplit(".", 1)[-1]
    if level not in ("O0", "OD", "O1", "O2") or dtype not in ("float16", "bfloat16"):
        raise ValueError(
            f"[static.amp.decorate] expected level O1 or O2 and dtype float16 or bfloat16, got {level}, {dtype}"
        )
    lists = amp_lists if amp_lists is not None else AutoMixedPrecisionLists(dtype=dtype)
    dynamic = dtype == "float16" if use_dynamic_loss_scaling is None else use_dynamic_loss_scaling
    return OptimizerWithMixedPrecision(
        optimizer, lists, level, dtype, init_loss_scaling, dynamic, incr_every_n_steps, decr_every_n_nan_or_inf, incr_ratio,
        decr_ratio,
    )  # fmt: skip
