"""Switches for recording gradients, as context managers and decorators."""

from __future__ import annotations

import functools
import inspect

from ..base import core

__all__ = ["no_grad", "enable_grad", "set_grad_enabled", "is_grad_enabled"]


class _GradMode:
    """Sets the mode on entry and restores on exit; one object may be entered again while it is entered."""

    _mode = False
    __slots__ = ("_saved", "__dict__")

    def __init__(self) -> None:
        self._saved = []

    def __enter__(self):
        self._saved.append(core.grad_enabled())
        core.set_grad_enabled(self._mode)
        return self

    def __exit__(self, *exception) -> bool:
        core.set_grad_enabled(self._saved.pop())
        return False

    def __call__(self, func):
        mode = self._mode
        if inspect.isgeneratorfunction(func):
            return _wrap_generator(func, mode)
        enabled, switch = core.grad_enabled, core.set_grad_enabled

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            before = enabled()
            switch(mode)
            try:
                return func(*args, **kwargs)
            finally:
                switch(before)

        wrapper.__signature__ = inspect.signature(func)
        return wrapper


def _wrap_generator(func, mode):
    """A generator must run in ``mode`` but hand control back in its caller's mode, at each yield."""

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        generator = func(*args, **kwargs)
        action, value = generator.send, None
        while True:
            before = core.grad_enabled()
            core.set_grad_enabled(mode)
            try:
                produced = action(value)
            except StopIteration as end:
                return end.value
            finally:
                core.set_grad_enabled(before)
            try:
                value = yield produced
                action = generator.send
            except GeneratorExit:
                generator.close()
                raise
            except BaseException as error:  # noqa: BLE001 - passed on into the generator
                action, value = generator.throw, error

    return wrapper


class no_grad(_GradMode):  # noqa: N801 - the public name
    """Nothing that is computed inside is recorded for gradients.

    ``with no_grad():``, ``@no_grad()`` or ``@no_grad``.
    """

    _mode = False
    __slots__ = ()

    def __new__(cls, func=None):
        instance = super().__new__(cls)
        if func is None:
            return instance
        instance.__init__()
        return instance(func)

    def __init__(self, func=None) -> None:
        super().__init__()


no_grad.__signature__ = inspect.Signature()  # the function form is no part of the public signature


class enable_grad(_GradMode):  # noqa: N801 - the public name
    """Recording is on inside, also within ``no_grad``."""

    _mode = True
    __slots__ = ()


class set_grad_enabled(_GradMode):  # noqa: N801 - the public name
    """Turns recording on or off at once; used in ``with``, the former state comes back at the end."""

    __slots__ = ("_mode_value", "_before")

    def __init__(self, mode) -> None:
        super().__init__()
        self._before = core.grad_enabled()
        self.mode = bool(mode)
        core.set_grad_enabled(self.mode)

    def __enter__(self):
        core.set_grad_enabled(self.mode)
        return self

    def __exit__(self, *exception) -> bool:
        core.set_grad_enabled(self._before)
        return False

    def __call__(self, func):
        core.set_grad_enabled(self._before)
        guard = enable_grad() if self.mode else no_grad()
        return guard(func)


def is_grad_enabled() -> bool:
    """True where computations are recorded for gradients."""
    return core.grad_enabled()
