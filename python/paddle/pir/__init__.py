"""The program representation (PIR) from Python: programs and what they are made of, patterns, passes, pipelines.

``docs/writing_a_pass.md`` shows how they go together.
"""

from __future__ import annotations

from .._core.ir import Operation, Type, Value
from .passes import (
    PassManager,
    PassRecord,
    add_to_pipeline,
    load_plugin,
    register_pass,
    registered_passes,
    remove_from_pipeline,
    unregister_pass,
)
from .program import Block, Program
from .rewrite import Drr, RewritePattern, apply_patterns
from .structure import OpOperand, diff, parse, tensor_type, walk

__all__ = [
    "Block",
    "Drr",
    "OpOperand",
    "Operation",
    "PassManager",
    "PassRecord",
    "Program",
    "RewritePattern",
    "Type",
    "Value",
    "add_to_pipeline",
    "apply_patterns",
    "diff",
    "load_plugin",
    "parse",
    "register_pass",
    "registered_passes",
    "remove_from_pipeline",
    "tensor_type",
    "unregister_pass",
    "walk",
]
