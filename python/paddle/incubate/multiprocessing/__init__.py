"""Python's ``multiprocessing`` with tensors: they are sent as arrays."""

from multiprocessing import *  # noqa: F403
from multiprocessing import get_context

_context = get_context()
Queue, Event, Process = _context.Queue, _context.Event, _context.Process
