"""Passes that run on the programs of one model."""

from __future__ import annotations

import collections
import contextlib
import threading

from paddle import pir

_users: collections.Counter = collections.Counter()  # ranks may be threads: the last that needs a pass takes it away
_lock = threading.Lock()


@contextlib.contextmanager
def added_passes(names):
    """Within it the passes run on every program that is compiled, besides those that run anyway.

    Raises:
        ValueError: a name that no pass has.
    """
    manager = pir.PassManager()
    for name in names:
        manager.add_pass(name)
    passes = manager.passes()
    with _lock:
        for name in passes:
            if _users[name] == 0:
                pir.add_to_pipeline(name)
            _users[name] += 1
    try:
        yield
    finally:
        with _lock:
            for name in passes:
                _users[name] -= 1
                if _users[name] == 0:
                    pir.remove_from_pipeline(name)
