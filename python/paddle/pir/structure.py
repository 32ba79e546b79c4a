"""What programs are made of: the rest of the interface of Operation and Value, and functions on whole programs."""

from __future__ import annotations

from .._core import ir
from .program import Block, Program

__all__ = ["OpOperand", "diff", "parse", "tensor_type", "vector_type", "walk"]

Operation, Value = ir.Operation, ir.Value


class OpOperand:
    """One operand of an operation: which value it is can be read and set."""

    def __init__(self, op, index: int) -> None:
        self._op, self._index = op, index

    def owner(self):
        """The operation."""
        return self._op

    def index(self) -> int:
        return self._index

    def source(self):
        """The value; None where an optional operand is absent."""
        return self._op.operand_source(self._index)

    def set_source(self, value) -> None:
        self._op.set_operand(self._index, value)

    def __eq__(self, other) -> bool:
        return isinstance(other, OpOperand) and (self._op is other._op and self._index == other._index)

    def __hash__(self) -> int:
        return hash((id(self._op), self._index))


def _replace_all_uses(op, values) -> None:
    results = op.results()
    if len(results) != len(values):
        raise ValueError(f"[{op.name()}] has {len(results)} results, got {len(values)} values to replace them")
    for old, new in zip(results, values):
        old.replace_all_uses_with(new)


_OPERATION = {
    "operand": lambda op, i: OpOperand(op, i),
    "operands": lambda op: [OpOperand(op, i) for i in range(len(op.operands_source()))],
    "num_operands": lambda op: len(op.operands_source()),
    "num_results": lambda op: len(op.results()),
    "num_regions": lambda op: len(op.blocks()),
    "id": lambda op: id(op),
    "get_input_names": lambda op: op._names("operands"),
    "get_output_names": lambda op: op._names("results"),
    "get_attr_names": lambda op: list(op.attrs()),
    "attr": lambda op, name: op.attrs().get(name),
    "int_attr": lambda op, name: op.attrs()[name],
    "str_attr": lambda op, name: op.attrs()[name],
    "set_bool_attr": lambda op, name, value: op.set_attr(name, bool(value)),
    "set_int_attr": lambda op, name, value: op.set_attr(name, int(value)),
    "set_str_attr": lambda op, name, value: op.set_attr(name, str(value)),
    "set_int_array_attr": lambda op, name, value: op.set_attr(name, [int(v) for v in value]),
    "set_str_array_attr": lambda op, name, value: op.set_attr(name, [str(v) for v in value]),
    "replace_all_uses_with": _replace_all_uses,
    "has_trait": lambda op, name: name in op.traits(),
}
_VALUE = {
    "use_empty": lambda v: not v.uses(),
    "has_one_use": lambda v: len(v.uses()) == 1,
    "first_use": lambda v: OpOperand(*v.uses()[-1]) if v.uses() else None,
    "is_same": lambda v, other: v == other,
    "hash": lambda v: hash(v),
    "is_dense_tensor_type": lambda v: str(v.type()).startswith("tensor<"),
}


def _value_flag(name: str, default: bool):
    return property(
        lambda v: default if v.attr(name) is None else bool(v.attr(name)),
        lambda v, value: v.set_attr(name, bool(value)),
    )


for _name, _function in _OPERATION.items():
    setattr(Operation, _name, _function)
for _name, _function in _VALUE.items():
    setattr(Value, _name, _function)
Operation.type = property(lambda op: op.name().split(".", 1)[1])
Value.stop_gradient = _value_flag("stop_gradient", True)
Value.persistable = _value_flag("persistable", False)


def parse(text: str) -> Program:
    """The program that ``str(program)`` wrote.

    Raises:
        ValueError: the text is no program, with line and column.
    """
    return Program.parse(text)


def walk(root, visit) -> None:
    """Calls ``visit(op)`` for each operation inside a program, block or operation, outer ones first."""
    if isinstance(root, Program):
        ops = root.module_op().walk()[1:]
    elif isinstance(root, (Block, ir.Block)):
        ops = [inner for op in root.ops for inner in op.walk()]
    else:
        ops = root.walk()
    for op in ops:
        if op.alive:
            visit(op)


def diff(before, after) -> str:
    """Lines that two programs (or their texts) don't share, as ``- old`` and ``+ new``; empty if they are equal."""
    return ir.diff(str(before), str(after))


def tensor_type(dtype, shape):
    """The type of a tensor; -1 or None is a size that only running tells."""
    return ir.tensor_type(dtype, shape)


def vector_type(types):
    """The type of a list of values."""
    return ir.vector_type(types)
