"""The switch of dynamic-to-static as an object, of which there is one."""

from __future__ import annotations

__all__ = []


class ProgramTranslator:
    """``enable(False)`` makes static functions run as plain Python, ``enable(True)`` ends that."""

    _instance = None

    def __new__(cls):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    @classmethod
    def get_instance(cls):
        """The one there is."""
        return cls()

    @property
    def enable_to_static(self) -> bool:
        """Whether static functions are captured."""
        from ..api import switches

        return switches.enabled

    def enable(self, enable_to_static: bool) -> None:
        """As ``paddle.jit.enable_to_static``."""
        from ..api import enable_to_static as switch

        switch(enable_to_static)
