"""The high-level interface: ``Model`` trains, evaluates and predicts; ``summary`` and ``flops`` look at networks."""

from __future__ import annotations

from . import callbacks, hub, progressbar
from .dynamic_flops import flops
from .model import Model
from .model_summary import summary

__all__ = ["Model", "callbacks", "flops", "hub", "progressbar", "summary"]
