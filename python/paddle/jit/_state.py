"""Per-thread state of the trace that is running, and the process-wide switches of ``paddle.jit``."""

from __future__ import annotations

import threading


class _State(threading.local):
    full_graph = False  # of the StaticFunction being traced
    recorder = None  # the Recorder of the running trace (see static_function)

    def __init__(self) -> None:
        self.watches: list = []  # of attributes that branches and loops under construction assign (see dy2static.slots)
        self.loop_plans: dict = {}  # types of loop variables found in this trace, by the types at entry


state = _State()


class Switches:
    enabled = True  # jit.enable_to_static
    verbosity = 0
    code_level = 0


switches = Switches()
