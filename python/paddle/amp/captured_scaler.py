"""What loss scaling does inside a captured program: the factor and its counts are tensors, a bad step is a branch."""

from __future__ import annotations

from .._core import trace
from ..base import core


def capturing() -> bool:
    """A function is being captured by ``to_static``."""
    if not trace.tracing():
        return False
    from ..jit import host

    return host.capturing()


class ScalerState:
    """The factor and the counts of good and bad steps: numbers, until a program that is captured changes them."""

    def __init__(self, scale: float) -> None:
        self.numbers = {"scale": scale, "good": 0, "bad": 0}
        self.tensors: dict | None = None

    def get(self, name: str):
        if self.tensors is None:
            return self.numbers[name]
        value = self.tensors[name].item()
        return float(value) if name == "scale" else int(value)

    def set(self, name: str, value) -> None:
        self.numbers[name] = value
        if self.tensors is not None:
            core.assign_(self.tensors[name], core.full([], value, self.tensors[name].dtype))

    def captured(self) -> dict:
        """The tensors that a program reads and writes."""
        if self.tensors is None:
            with trace.outside():
                self.tensors = {
                    name: core.full([], value, "float32" if name == "scale" else "int32")
                    for name, value in self.numbers.items()
                }
            for t in self.tensors.values():
                t.persistable = True
        return self.tensors


def unscale(grads, scale):
    """Divides gradients by ``scale`` in place; a tensor: whether one holds an infinity or NaN."""
    finite = None
    for grad in grads:
        good = grad.isfinite().all()
        finite = good if finite is None else finite.logical_and(good)
        core.assign_(grad, grad * (1.0 / scale).astype(grad.dtype))
    return None if finite is None else finite.logical_not()


def step_unless(found, optimizer) -> None:
    """``optimizer.step()`` where ``found`` does not hold."""
    from ..jit.dy2static.branches import trace_if

    if found is None or found is False:  # there was no gradient
        optimizer.step()
    else:
        trace_if(found, lambda: None, optimizer.step, [])


def update(state: ScalerState, found, scaler) -> None:
    """Counts the step and changes the factor when it is time; see ``AmpScaler._update``."""
    t = state.captured()
    scale, good, bad = t["scale"], t["good"], t["bad"]
    if found is None or found is False:
        found = core.full([], False, "bool")
    bad_now, good_now = (bad + 1) * found.astype("int32"), (good + 1) * (1 - found.astype("int32"))
    shrink = bad_now == scaler._decr_every_n_nan_or_inf
    grow = good_now == scaler._incr_every_n_steps
    grown = scale * scaler._incr_ratio
    grown = core._C_ops.where(grown.isfinite(), grown, scale)
    # The factor never falls below 1: smaller ones lose precision without gaining range.
    shrunk = (scale * scaler._decr_ratio).clip(min=1.0)
    core.assign_(scale, core._C_ops.where(shrink, shrunk, core._C_ops.where(grow, grown, scale)))
    core.assign_(good, good_now * (1 - grow.astype("int32")))
    core.assign_(bad, bad_now * (1 - shrink.astype("int32")))
