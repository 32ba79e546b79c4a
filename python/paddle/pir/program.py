"""Program: what static mode builds, what passes work on."""

from __future__ import annotations

from .._core import ir

__all__ = ["Program"]


_DEFAULTS = {
    "_declared_here": dict,  # name -> parameter or other state that was made for this program
    "_rates": dict,  # id(optimizer) -> (variable, optimizer)
    "_prepared": dict,  # what the executor compiled
    "_seed": int,
    "_generator": lambda: None,  # state of the program's own generator, where it has a seed
    "_is_test": bool,
    "_origin": lambda: None,  # what it was cloned from: its variables can be asked for here
}


class Program(ir.Program):
    """Operations in SSA form, and the parameters that they refer to by name.

    ``print(program)`` shows it in a form that ``Program.parse`` reads back to an equal program.
    """

    def __getattr__(self, name):
        # Clones and loaded programs are made in C++: their Python side comes with its first use.
        if name not in _DEFAULTS:
            raise AttributeError(f"'Program' object has no attribute {name!r}")
        value = self.__dict__[name] = _DEFAULTS[name]()
        return value

    # ---- looking at it
    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        """The program as text; ``with_details`` adds the source line of each operation."""
        return self._text(with_details)

    def __str__(self) -> str:
        return self._text(False)

    __repr__ = __str__

    def global_block(self) -> Block:
        """The one block of the program."""
        return Block(self, self._block())

    def block(self, index: int) -> Block:
        """Block ``index``; those of branches and loops follow the global one."""
        return self.blocks[index]

    @property
    def blocks(self) -> list:
        """The global block, then those of branches and loops in order."""
        found = [self.global_block()]
        for op in self.module_op().walk()[1:]:
            found.extend(Block(self, b) for b in op.blocks())
        return found

    @property
    def num_blocks(self) -> int:
        """How many blocks there are, those of branches and loops included."""
        return len(self.blocks)

    def current_block(self) -> Block:
        """The global block."""
        return self.global_block()

    def all_parameters(self) -> list:
        """Parameters in the order in which they were made."""
        found = {n: p for n, p in self._declared_here.items() if getattr(p, "is_parameter", False) or _is_param(p)}
        for name, tensor, _ in self._captured():
            if name not in found and _is_param(tensor):
                found[name] = tensor
        return list(found.values())

    def list_vars(self):
        """Inputs, parameters and other state."""
        yield from self._inputs
        known = dict(self._declared_here)
        for name, tensor, _ in self._captured():
            known.setdefault(name, tensor)
        yield from known.values()

    def _state_vars(self) -> dict:
        """Name -> tensor of all that is kept between runs."""
        known = dict(self._declared_here)
        for name, tensor, _ in self._captured():
            if tensor.persistable:
                known.setdefault(name, tensor)
        return known

    # ---- state
    def _declare(self, tensor) -> None:
        self._declared_here[tensor.name] = tensor

    def _find(self, name: str):
        """The variable of that name, here or in a program that this one was cloned from; None: there is none."""
        program = self
        while program is not None:
            found = program._named(name)
            found = program._declared_here.get(name) if found is None else found
            if found is not None:
                return found
            program = program._origin
        return None

    def _parameter_named(self, name):
        return self._declared_here.get(name) if name else None

    @property
    def random_seed(self) -> int:
        """What the program's random operators are seeded with; 0: they draw from the global generator."""
        return self._seed

    @random_seed.setter
    def random_seed(self, seed: int) -> None:
        if not isinstance(seed, int):
            raise ValueError("Program.random_seed's input seed must be an integer, but received " + str(type(seed)))
        self._seed, self._generator = seed, None

    def global_seed(self, seed: int = 0) -> None:
        """Sets ``random_seed``."""
        self.random_seed = seed

    def state_dict(self, mode: str = "all", scope=None) -> dict:
        """Values of the scope by name: ``"param"`` parameters, ``"opt"`` other state, ``"all"`` both."""
        from ..static.io import program_state

        return program_state(self, mode, scope)

    def set_state_dict(self, state_dict, scope=None) -> None:
        """Writes values into the scope."""
        from ..static.io import set_program_state

        set_program_state(self, state_dict, scope)

    def _generator_state(self):
        """(seed, draws so far) of the program's own generator; None: the global one is used."""
        if not self._seed:
            return None
        return self._generator or (self._seed, 0)

    def _keep_generator(self, state) -> None:
        if self._seed:
            self._generator = state

    # ---- copies
    def clone(self, for_test: bool = False) -> Program:
        """A copy that shares the parameters.

        ``for_test``: dropout and batch normalisation take their form for inference, and what an optimizer or a backward pass
        appended writes nothing. Variables of this program can be fetched from the copy.
        """
        copy = self._clone(for_test)
        copy._declared_here = dict(self._declared_here)
        copy._seed, copy._is_test = self._seed, for_test
        copy._origin = self
        if not for_test:
            copy._rates = dict(self._rates)
        return copy

    def set_is_test_attr(self, is_test: bool = True) -> None:
        """Sets ``is_test`` of all operations that have it."""
        for op in self.module_op().walk():
            if op.has_attr("is_test"):
                op.set_attr("is_test", is_test)
        self._edited()

    def __deepcopy__(self, memo):
        copy = self.clone()
        memo[id(self)] = copy
        return copy


def _is_param(tensor) -> bool:
    from ..base.framework import EagerParamBase

    return isinstance(tensor, EagerParamBase)


class Block:
    """A block of a program, as programs for static mode know it."""

    def __init__(self, program: Program, block) -> None:
        self.program, self._block = program, block

    @property
    def ops(self) -> list:
        """The operations, in order."""
        return self._block.ops

    def __iter__(self):
        return iter(self.ops)

    def __len__(self) -> int:
        return len(self._block)

    def num_ops(self) -> int:
        """How many operations the block has."""
        return len(self)

    def __str__(self) -> str:
        return str(self._block)

    __repr__ = __str__

    def __eq__(self, other) -> bool:
        return self._block == (other._block if isinstance(other, Block) else other)

    def __hash__(self) -> int:
        return hash(self._block)

    def front(self):
        """The first operation."""
        return self.ops[0]

    def back(self):
        """The last operation."""
        return self.ops[-1]

    def empty(self) -> bool:
        """Whether there is no operation."""
        return len(self) == 0

    def args(self) -> list:
        """Arguments of the block."""
        return self._block.args()

    @property
    def parent_op(self):
        """The operation that owns the block."""
        return self._block.parent_op

    @property
    def parent_block(self):
        """The block that holds the branch or loop that this is the block of; None for the global one."""
        parent = self._block.parent_op.get_parent_block()
        return None if parent is None else Block(self.program, parent)

    @property
    def idx(self) -> int:
        """The block's place among ``program.blocks``."""
        return self.program.blocks.index(self)

    def create(self, name, operands=(), attrs=None, types=None, num_regions=0, before=None):
        """Appends an operation (or puts it before another); result types are inferred where none are given."""
        op = self._block.create(name, list(operands), attrs, types, num_regions, before)
        self.program._edited()
        return op

    def append_op(self, type, inputs=None, outputs=None, attrs=None):
        """Appends an operator by its name (``paddle.static.append_op``)."""
        from ..static.append_op import append_op

        return append_op(self, type, inputs, outputs, attrs)

    def remove_op(self, op) -> None:
        """Erases an operation whose results nobody uses."""
        op.erase()
        self.program._edited()

    # ---- by name
    @property
    def vars(self) -> dict:
        """Inputs, parameters and other state by name."""
        return {v.name: v for v in self.program.list_vars()}

    def has_var(self, name: str) -> bool:
        """Whether the program knows a variable of that name."""
        return self.program._find(name) is not None

    def var(self, name: str):
        """The variable of that name.

        Raises:
            ValueError: there is none.
        """
        found = self.program._find(name)
        if found is None:
            raise ValueError(f"var {name} not in this block")
        return found

    def all_parameters(self) -> list:
        """Parameters, the newest first: the order in which a program begins with them."""
        return self.program.all_parameters()[::-1]

    def create_var(self, name=None, shape=None, dtype="float32", persistable=False, **kwargs):
        """A variable: zeros until something is assigned to it; persistable ones are kept in the scope."""
        from ..base import core, unique_name
        from ..static.state import declare

        name = name or unique_name.generate("_generated_var")
        if persistable:
            tensor = declare(name, shape or [], dtype, lambda: core.full(list(shape or []), 0.0, dtype))
            self.program._declare(tensor)
            return tensor
        tensor = core.full([1 if n is None or n < 0 else n for n in shape or []], 0.0, dtype)
        tensor.name = name
        tensor._declared_shape = list(shape or [])  # None sizes are known when something is assigned
        return tensor

    def create_parameter(self, name=None, shape=None, dtype="float32", initializer=None, **kwargs):
        """A parameter of the program."""
        from ..nn._create import create_parameter

        return create_parameter(shape, dtype, name, kwargs.get("attr"), False, initializer)
