"""The program representation (PIR) from Python."""

from __future__ import annotations

from .._core.ir import Operation, Type, Value
from .program import Block, Program

__all__ = ["Block", "Operation", "Program", "Type", "Value"]
