"""What the sets of texts share."""

from __future__ import annotations

from collections import Counter

__all__ = []


def checked_mode(mode: str, known) -> str:
    """The mode in lower case; AssertionError where it is unknown."""
    if mode.lower() not in known:
        raise AssertionError(f"mode should be one of {', '.join(known)}, but got {mode}")
    return mode.lower()


def numbered(words, more_than: int, unknown) -> dict:
    """Words that occur more often than `more_than`, the most frequent first, equal ones by name; then `unknown`."""
    counts = words if isinstance(words, Counter) else Counter(words)
    order = lambda w: (-counts[w], w if isinstance(w, bytes) else w.encode())  # noqa: E731
    kept = sorted((w for w, n in counts.items() if n > more_than), key=order)
    found = {w: i for i, w in enumerate(kept)}
    found[unknown] = len(kept)
    return found
