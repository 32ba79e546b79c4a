"""Names that programs written for Paddle 2.x import from here."""

from __future__ import annotations

from ..api import enable_to_static
from ..capture import ConcreteProgram
from ..static_function import StaticFunction

__all__ = ["ConcreteProgram", "ProgramTranslator", "StaticFunction", "convert_to_static"]


class ProgramTranslator:
    """The old switch for ``to_static``; one object for the process."""

    _instance: ProgramTranslator | None = None

    def __new__(cls):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    @classmethod
    def get_instance(cls) -> ProgramTranslator:
        return cls()

    def enable(self, to_static: bool) -> None:
        """See ``paddle.jit.enable_to_static``."""
        enable_to_static(to_static)


def convert_to_static(function):
    """The transformed form of ``function``."""
    from .convert import convert_call

    return convert_call(function)
