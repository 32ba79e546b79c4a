"""The base class of learning-rate schedules."""

from __future__ import annotations

import functools
import warnings

from ..._core import trace


def require(condition, message, kind=ValueError) -> None:
    if not condition:
        raise kind(message)


def require_type(scheduler, name, value, types) -> None:
    """Raises TypeError in one wording unless ``value`` is one of ``types`` (a bool is no number)."""
    if not isinstance(value, types) or isinstance(value, bool):
        wanted = types if isinstance(types, type) else "/".join(t.__name__ for t in types)
        raise TypeError(f"The type of '{name}' in '{scheduler}' must be {wanted}, but received {type(value)}.")


def require_positive_int(scheduler, name, value) -> None:
    require_type(scheduler, name, value, int)
    require(value > 0, f"'{name}' must be greater than 0, but got {value}")


class LRScheduler:
    """A counter ``last_epoch`` and the rate ``last_lr`` it gives; calling the scheduler returns ``last_lr``.

    Subclasses define ``get_lr()``. The constructor steps once, so that ``last_epoch`` is 0 at the first iteration.

    Args:
        learning_rate: the base rate, a float >= 0.
        last_epoch: where the counter stands before that first step.
        verbose: print the rate at every step.
    """

    # LambdaDecay's state can't hold its function, so older files lack it.
    _may_lack_state = False

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        if not isinstance(learning_rate, (float, int)):
            raise TypeError(f"The type of learning rate must be float, but received {type(learning_rate)}")
        if learning_rate < 0:
            raise ValueError(f"Invalid learning rate: {learning_rate}")
        self.base_lr = float(learning_rate)
        self.last_lr = float(learning_rate)
        self.last_epoch = last_epoch
        self.verbose = verbose
        self._var_name = None
        self.step()

    def __call__(self) -> float:
        return self.last_lr

    def step(self, epoch: int | None = None) -> None:
        """Advances the counter by one, or sets it to ``epoch``, and computes the rate.

        In a function captured by ``to_static`` that happens at every run of the program.
        """
        if trace.tracing():
            from ...jit import host

            if host.action(functools.partial(self._step, epoch)):
                return
        self._step(epoch)

    def _step(self, epoch: int | None) -> None:
        if epoch is None:
            self.last_epoch += 1
            self.last_lr = self.get_lr()
        else:
            self.last_epoch = epoch
            closed_form = getattr(self, "_get_closed_form_lr", None)
            self.last_lr = self.get_lr() if closed_form is None else closed_form()
        self._report()

    def _report(self) -> None:
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def state_keys(self) -> None:
        """Names, in ``self.keys``, of the attributes that are saved; subclasses with more state replace it."""
        self.keys = ["last_epoch", "last_lr"]

    def state_dict(self) -> dict:
        """The attributes named by ``state_keys``; 1-element tensors as floats."""
        self.state_keys()
        state = {}
        for key in self.keys:
            if key in self.__dict__:
                value = self.__dict__[key]
                if hasattr(value, "numpy") and hasattr(value, "shape"):
                    value = float(value)
                state[key] = value
        return state

    def set_state_dict(self, state_dict) -> None:
        """Loads what ``state_dict`` gave.

        Raises:
            RuntimeError: a key is missing.
        """
        self.state_keys()
        for key in self.keys:
            if key not in state_dict:
                raise RuntimeError(
                    f"Please check whether state_dict is correct for optimizer. Can't find [ {key} ] in state_dict"
                )
            self.__dict__[key] = state_dict[key]
        if len(state_dict) > len(self.keys):
            warnings.warn(
                "There are some unused values in state_dict. Maybe the optimizer have different "
                "'LearningRateDecay' when invoking state_dict and set_dict"
            )

    set_dict = set_state_dict

    def get_lr(self) -> float:
        """The rate at ``self.last_epoch``."""
        raise NotImplementedError
