"""Fleet's logger."""

from __future__ import annotations

import logging

logger = logging.getLogger("FLEET")


def set_log_level(level) -> None:
    """``level``: a name, as "INFO", or a number.

    Raises:
        TypeError: neither.
    """
    if not isinstance(level, (str, int)):
        raise TypeError(f"[fleet] expected a log level as a name or a number, got {level!r}")
    logger.setLevel(level.upper() if isinstance(level, str) else level)


def get_log_level_code() -> int:
    return logger.getEffectiveLevel()


def get_log_level_name() -> str:
    return logging.getLevelName(get_log_level_code())


def layer_to_str(base, *args, **kwargs) -> str:
    """How a layer is described: name(argument, key=value)."""
    return f"{base}({', '.join([*map(str, args), *(f'{k}={v}' for k, v in kwargs.items())])})"
