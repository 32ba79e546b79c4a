"""Scaling the loss so that gradients in float16 don't vanish, and skipping steps in which they overflow."""

from __future__ import annotations

from collections import defaultdict
from enum import Enum

import numpy as np

from .. import _C_ops
from ..autograd.grad_mode import no_grad
from ..base import core
from . import captured_scaler

__all__ = ["AmpScaler", "GradScaler", "OptimizerState"]


class OptimizerState(Enum):
    """What was done for an optimizer since the last ``update``."""

    INIT = 0
    UNSCALED = 1
    STEPPED = 2


def _unscale(grads, inverse) -> bool:
    """Multiplies gradients by ``inverse`` in place; True if one held an infinity or NaN."""
    fused = getattr(_C_ops, "fused_unscale_", None)
    if fused is not None:
        return bool(fused(grads, inverse))
    from ..nn.clip import _total

    bad = []
    for grad in grads:
        bad.append(grad.isfinite().logical_not().any().astype("float32"))
        core.assign_(grad, grad * inverse)
    return bool(bad) and bool(_total(bad) > 0)


class AmpScaler:
    """Scale ``loss`` by a factor that grows while gradients stay finite and shrinks when they don't.

    Args:
        enable: False makes everything pass through.
        init_loss_scaling: the first factor.
        incr_ratio, incr_every_n_steps: growth, after so many good steps in a row.
        decr_ratio, decr_every_n_nan_or_inf: reduction, after so many bad steps in a row.
        use_dynamic_loss_scaling: False keeps the factor.
    """

    def __init__(
        self,
        enable=True,
        init_loss_scaling=65536.0,
        incr_ratio=2.0,
        decr_ratio=0.5,
        incr_every_n_steps=2000,
        decr_every_n_nan_or_inf=1,
        use_dynamic_loss_scaling=True,
    ) -> None:
        self._enable = bool(enable)
        if self._enable:
            if not incr_ratio > 1.0:
                raise AssertionError("The incr_ratio must be > 1.0.")
            if not decr_ratio < 1.0:
                raise AssertionError("The decr_ratio must be < 1.0.")
        self._init_loss_scaling = float(init_loss_scaling)
        self._state = captured_scaler.ScalerState(float(init_loss_scaling))
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._incr_every_n_steps, self._decr_every_n_nan_or_inf = incr_every_n_steps, decr_every_n_nan_or_inf
        self._use_dynamic_loss_scaling = use_dynamic_loss_scaling if self._enable else False
        self._found_inf = self._cache_founf_inf = False
        self._optimizer_states = defaultdict(self._new_state)

    _scale = property(lambda self: self._state.get("scale"), lambda self, v: self._state.set("scale", v))
    _incr_count = property(lambda self: self._state.get("good"), lambda self, v: self._state.set("good", v))
    _decr_count = property(lambda self: self._state.get("bad"), lambda self, v: self._state.set("bad", v))

    @staticmethod
    def _new_state() -> dict:
        return {"state": OptimizerState.INIT}

    def scale(self, var):
        """``var`` times the factor (in float32 if it is float16)."""
        if not isinstance(var, core.Tensor):
            raise TypeError(f"[GradScaler.scale] expected a Tensor, got {type(var).__name__}")
        if not self._enable:
            return var
        if var.dtype == core.float16:
            var = var.astype("float32")
        if captured_scaler.capturing():
            return var * self._state.captured()["scale"].astype(var.dtype)
        return var * self._scale

    def _params(self, optimizer):
        return [p for params, _ in optimizer._groups() for p in params]

    def _unscale(self, optimizer) -> None:
        if not self._enable:
            return
        state = self._optimizer_states[id(optimizer)]
        if state["state"] is OptimizerState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["state"] is OptimizerState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        optimizer = getattr(optimizer, "_inner_opt", optimizer)
        with no_grad():
            grads = [g for g in core.collect_grads(self._params(optimizer)) if g is not None]
            by_dtype: dict = {}
            for grad in grads:
                by_dtype.setdefault(str(grad.dtype), []).append(grad)
            if captured_scaler.capturing():
                self._found_inf = captured_scaler.unscale(grads, self._state.captured()["scale"])
            else:
                self._found_inf = any([_unscale(group, 1.0 / self._scale) for group in by_dtype.values()])
        state["state"] = OptimizerState.UNSCALED

    def minimize(self, optimizer, *args, **kwargs):
        """``optimizer.minimize`` unless a gradient is infinite or NaN; then updates the factor."""
        if not self._enable:
            return optimizer.minimize(*args, **kwargs)
        if self._optimizer_states[id(optimizer)]["state"] is OptimizerState.INIT:
            self._unscale(optimizer)
        if captured_scaler.capturing():
            captured_scaler.step_unless(self._found_inf, optimizer)
            result = (None, None)
        else:
            result = (None, None) if self._found_inf else optimizer.minimize(*args, **kwargs)
        self._cache_founf_inf = self._found_inf
        if self._use_dynamic_loss_scaling:
            self._update()
        self._optimizer_states = defaultdict(self._new_state)
        return result

    def _update(self) -> None:
        """Counts the step and changes the factor when it is time."""
        if not self._enable:
            return
        if captured_scaler.capturing():
            captured_scaler.update(self._state, self._cache_founf_inf, self)
            self._found_inf = self._cache_founf_inf = False
            return
        if self._cache_founf_inf:
            self._incr_count = 0
            self._decr_count += 1
            if self._decr_count == self._decr_every_n_nan_or_inf:
                # The factor never falls below 1: smaller ones lose precision without gaining range.
                self._scale = max(self._scale * self._decr_ratio, 1.0)
                self._decr_count = 0
        else:
            self._decr_count = 0
            self._incr_count += 1
            if self._incr_count == self._incr_every_n_steps:
                grown = float(np.float32(self._scale * self._incr_ratio))
                self._scale = grown if np.isfinite(grown) else self._scale
                self._incr_count = 0

    def is_enable(self) -> bool:
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        return self._use_dynamic_loss_scaling

    def get_init_loss_scaling(self) -> float:
        return self._init_loss_scaling

    def set_init_loss_scaling(self, new_init_loss_scaling) -> None:
        """Sets the first factor, which becomes the current one."""
        self._init_loss_scaling = self._scale = float(new_init_loss_scaling)

    def get_incr_ratio(self) -> float:
        return self._incr_ratio

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        if not new_incr_ratio > 1.0:
            raise AssertionError("The new_incr_ratio must be > 1.0.")
        self._incr_ratio = new_incr_ratio

    def get_decr_ratio(self) -> float:
        return self._decr_ratio

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        if not new_decr_ratio < 1.0:
            raise AssertionError("The new_decr_ratio must be < 1.0.")
        self._decr_ratio = new_decr_ratio

    def get_incr_every_n_steps(self) -> int:
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        self._incr_every_n_steps = new_incr_every_n_steps

    def get_decr_every_n_nan_or_inf(self) -> int:
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        self._decr_every_n_nan_or_inf = new_decr_every_n_nan_or_inf

    def state_dict(self) -> dict:
        """The factor (an array of one float32), the ratios and the counts; empty when not enabled."""
        if not self._enable:
            return {}
        return {
            "scale": np.array([self._scale], np.float32),
            "incr_ratio": self._incr_ratio,
            "decr_ratio": self._decr_ratio,
            "incr_every_n_steps": self._incr_every_n_steps,
            "decr_every_n_nan_or_inf": self._decr_every_n_nan_or_inf,
            "incr_count": self._incr_count,
            "decr_count": self._decr_count,
            "use_dynamic_loss_scaling": self._use_dynamic_loss_scaling,
        }

    def load_state_dict(self, state_dict) -> None:
        """Loads what ``state_dict`` gave.

        Raises:
            RuntimeError: it is empty.
        """
        if not self._enable:
            return
        if len(state_dict) == 0:
            raise RuntimeError(
                "The input state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_loss_scaling = float(np.asarray(state_dict["scale"]).reshape(-1)[0])
        self._scale = self._init_loss_scaling
        for key in ("incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf", "incr_count",
                    "decr_count", "use_dynamic_loss_scaling"):  # fmt: skip
            setattr(self, "_" + key, state_dict[key])


class GradScaler(AmpScaler):
    """``scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update(); optimizer.clear_grad()``.

    ``unscale_(optimizer)`` in between gives true gradients, for clipping. See ``AmpScaler`` for the arguments.
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 65536.0,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        super().__init__(
            enable, init_loss_scaling, incr_ratio, decr_ratio, incr_every_n_steps, decr_every_n_nan_or_inf,
            use_dynamic_loss_scaling,
        )  # fmt: skip

    def unscale_(self, optimizer):
        """Divides the gradients of ``optimizer``'s parameters by the factor, once per ``update``.

        Raises:
            RuntimeError: a second time, or after ``step``.
        """
        return self._unscale(optimizer)

    def step(self, optimizer) -> None:
        """``optimizer.step()`` with true gradients, or nothing if one is infinite or NaN.

        Raises:
            RuntimeError: a second time before ``update``.
        """
        if not self._enable:
            optimizer.step()
            return
        state = self._optimizer_states[id(optimizer)]
        if state["state"] is OptimizerState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["state"] is OptimizerState.INIT:
            self._unscale(optimizer)
        if captured_scaler.capturing():
            captured_scaler.step_unless(self._found_inf, optimizer)
        elif not self._found_inf:
            optimizer.step()
        self._cache_founf_inf = self._found_inf
        state["state"] = OptimizerState.STEPPED
        if not self._use_dynamic_loss_scaling:
            self._optimizer_states = defaultdict(self._new_state)

    def update(self) -> None:
        """Ends the step: changes the factor when it is time."""
        if not self._enable:
            return
        if self._use_dynamic_loss_scaling:
            self._update()
            self._optimizer_states = defaultdict(self._new_state)
