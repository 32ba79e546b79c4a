"""``FLAGS_*``: switches of the system, from the environment or from here."""

from __future__ import annotations


from ..base import core

__all__ = ["set_flags", "get_flags"]


def _known(name, verb):
    names = core.flag_names()
    if name in names:
        return name
    import difflib

    nearest = difflib.get_close_matches(str(name), names, 1, 0.0)
    hint = f" Did you mean {nearest[0]}?" if nearest else ""
    raise ValueError(f"Flag {name} cannot {verb} its value through this function: there is no such flag.{hint}")


def set_flags(flags) -> None:
    """Sets flags from a dict of name to value (bool, number or string).

    Raises:
        TypeError: not a dict, or a value of the wrong kind. ValueError: an unknown flag; the message has the nearest
            name.
    """
    if not isinstance(flags, dict):
        raise TypeError("flags in set_flags should be a dict")
    for name in flags:
        _known(name, "set")
    for name, value in flags.items():
        core.flag_set(name, value)


def get_flags(flags) -> dict:
    """Values of one flag or of a list of flags, by name.

    Raises:
        TypeError: neither a string nor a list or tuple. ValueError: an unknown flag.
    """
    if isinstance(flags, str):
        flags = [flags]
    elif not isinstance(flags, (list, tuple)):
        raise TypeError("Flags in get_flags should be a list, tuple or string.")
    return {name: core.flag_get(_known(name, "get")) for name in flags}
