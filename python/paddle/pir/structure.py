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


# name: (what it says, function)
_OPERATION = {
    "operand": ("Operand ``i``, which can be read and set.", lambda op, i: OpOperand(op, i)),
    "operands": ("All operands in order.", lambda op: [OpOperand(op, i) for i in range(len(op.operands_source()))]),
    "num_operands": ("The number of operands, absent optional ones included.", lambda op: len(op.operands_source())),
    "num_results": ("The number of results.", lambda op: len(op.results())),
    "num_regions": ("The number of regions: branches, bodies of loops.", lambda op: len(op.blocks())),
    "id": ("A number that tells this operation from all others that are alive.", lambda op: id(op)),
    "get_input_names": ("Names of the operands, as the operator's record has them.", lambda op: op._names("operands")),
    "get_output_names": ("Names of the results, as the operator's record has them.", lambda op: op._names("results")),
    "get_attr_names": ("Names of the attributes.", lambda op: list(op.attrs())),
    "attr": ("The attribute of that name; None where there is none.", lambda op, name: op.attrs().get(name)),
    "int_attr": ("The integer attribute of that name; KeyError where there is none.", lambda op, name: op.attrs()[name]),
    "str_attr": ("The attribute of that name, a text; KeyError where there is none.", lambda op, name: op.attrs()[name]),
    "set_bool_attr": ("Sets an attribute to a bool.", lambda op, name, value: op.set_attr(name, bool(value))),
    "set_int_attr": ("Sets an attribute to an integer.", lambda op, name, value: op.set_attr(name, int(value))),
    "set_str_attr": ("Sets an attribute to a text.", lambda op, name, value: op.set_attr(name, str(value))),
    "set_int_array_attr": (
        "Sets an attribute to a list of integers.",
        lambda op, name, value: op.set_attr(name, [int(v) for v in value]),
    ),
    "set_str_array_attr": (
        "Sets an attribute to a list of texts.",
        lambda op, name, value: op.set_attr(name, [str(v) for v in value]),
    ),
    "replace_all_uses_with": ("Everyone who used a result uses the value in its place instead.", _replace_all_uses),
    "has_trait": ("Whether the operator has the trait of that name.", lambda op, name: name in op.traits()),
}
_VALUE = {
    "use_empty": ("Whether nobody uses it.", lambda v: not v.uses()),
    "has_one_use": ("Whether it is used exactly once.", lambda v: len(v.uses()) == 1),
    "first_use": ("One of its uses; None where there is none.", lambda v: OpOperand(*v.uses()[-1]) if v.uses() else None),
    "is_same": ("Whether the other is the same value.", lambda v, other: v == other),
    "hash": ("Equal for the same value.", lambda v: hash(v)),
    "is_dense_tensor_type": ("Whether its type is that of a tensor.", lambda v: str(v.type()).startswith("tensor<")),
}


def _value_flag(name: str, default: bool):
    return property(
        lambda v: default if v.attr(name) is None else bool(v.attr(name)),
        lambda v, value: v.set_attr(name, bool(value)),
    )


for _class, _methods in ((Operation, _OPERATION), (Value, _VALUE)):
    for _name, (_doc, _method) in _methods.items():
        _method.__doc__ = _doc
        setattr(_class, _name, _method)
Operation.type = property(lambda op: op.name().split(".", 1)[1], doc="the name without its dialect")
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
