"""Whether two results that ``worker.py`` wrote are the same, and which differences are meant."""

import numpy as np

# The class of an error where it is meant to be another: (official's, ours).
MEANT_ERRORS = {
    ("ValueError", "TypeError"): "a missing argument, or one too many, is Python's own TypeError",
    ("AttributeError", "TypeError"): "what is no tensor is a TypeError",
    ("AssertionError", "ValueError"): "a value is refused by ValueError rather than assert",
    ("AssertionError", "TypeError"): "a kind is refused by TypeError rather than assert",
    ("NotImplementedError", "TypeError"): "a dtype is refused by TypeError",
    ("OSError", "TypeError"): "official's message is broken",
}

_TOLERANCE = {"bfloat16": 2e-2, "float16": 2e-3, "float64": 1e-9, "complex128": 1e-9}


def _numbers(values):
    return np.array([float(v) for v in values])


def difference(official, ours, where="result"):
    """None, or what differs between two values."""
    if official[0] != ours[0]:
        return f"{where}: official {official[:3]}, ours {ours[:3]}"
    if official[0] in ("tensor", "array"):
        for k, label in ((1, "dtype"), (2, "shape"), (3, "stop_gradient")):
            if official[k] != ours[k]:
                return f"{where}: {label} official {official[k]}, ours {ours[k]}"
        t = _TOLERANCE.get(official[1], 1e-5)
        if not np.allclose(_numbers(official[4]), _numbers(ours[4]), rtol=t, atol=t / 10, equal_nan=True):
            return f"{where}: values official {official[4][:6]}, ours {ours[4][:6]}"
        return None
    if official[0] == "offer":
        have = dict(ours[1])
        lacking = [k for k, v in official[1] if have.get(k) != v]
        return f"{where}: lacks {', '.join(lacking)}" if lacking else None
    if official[0] in ("list", "tuple", "dict"):
        if len(official[1]) != len(ours[1]):
            return f"{where}: length official {len(official[1])}, ours {len(ours[1])}"
        for i, (a, b) in enumerate(zip(official[1], ours[1])):
            if official[0] == "dict":
                if a[0] != b[0]:
                    return f"{where}: key official {a[0]!r}, ours {b[0]!r}"
                a, b = a[1], b[1]
            found = difference(a, b, f"{where}[{i}]")
            if found:
                return found
        return None
    if official[1] != ours[1]:
        return f"{where}: official {official[1]!r}, ours {ours[1]!r}"
    return None


def verdict(official, ours):
    """None where ours is right: the same, or an answer where official has none; else what differs."""
    if official[0] == "ok" and ours[0] == "ok":
        return difference(official[1], ours[1])
    if ours[0] == "ok":
        return None  # we take more
    if ours[0] == "crash":
        return "ours crashed"
    if official[0] == "ok":
        return f"official {str(official[1])[:100]}, ours {ours[1]}"
    if official[0] == "crash" or official[1] in ours[2] or any((official[1], c) in MEANT_ERRORS for c in ours[2]):
        return None
    return f"error official {official[1]}, ours {ours[1]}"
