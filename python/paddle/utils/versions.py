"""Comparing the installed version with what a program needs."""

from __future__ import annotations

import re

from ..version import full_version

_FORM = re.compile(r"\d+(\.\d+){0,3}")


def _parse(name, value):
    if not isinstance(value, str):
        raise TypeError(f"The type of '{name}' in require_version must be str, but received {type(value)}.")
    if not _FORM.fullmatch(value):
        raise ValueError(
            f"The value of '{name}' in require_version must be in format '\\d+(\\.\\d+){{0,3}}', "
            f"like '1.5.2.0', but received {value}"
        )
    numbers = [int(n) for n in value.split(".")]
    return numbers + [0] * (4 - len(numbers))


def require_version(min_version: str, max_version: str | None = None) -> None:
    """Raises unless ``min_version`` <= the installed API level <= ``max_version``.

    Raises:
        Exception: outside the range. TypeError, ValueError: a version that is none.
    """
    low = _parse("min_version", min_version)
    high = None if max_version is None else _parse("max_version", max_version)
    installed = _parse("installed", full_version)
    if high is not None and not low <= installed <= high:
        raise Exception(
            f"VersionError: PaddlePaddle version in [{min_version}, {max_version}] required, but "
            f"{full_version} installed."
        )
    if installed < low:
        raise Exception(
            f"VersionError: PaddlePaddle version {min_version} or higher is required, but {full_version} installed, "
            f"please upgrade your PaddlePaddle to {min_version} or other higher version."
        )
