"""Executor: runs programs, with values fed by name and results fetched by variable or name."""

from __future__ import annotations

import numpy as np

from .._core import ir, to_tensor, trace
from ..base import core
from ..pir.program import Program
from .compiler import CompiledProgram
from .program import default_main_program
from .scope import global_scope
from .state import is_declared

__all__ = ["Executor"]


class _Entry:
    """A program compiled for one list of results."""

    __slots__ = ("edits", "run", "inputs", "handles", "held")

    def __init__(self, program: Program, fetches: list, writes: bool) -> None:
        self.edits = program._edits
        self.held = fetches  # their identities are the entry's key
        self.run = ir.prepare(program, [_variable(program, f) for f in fetches], False, writes)
        self.inputs = self.run.inputs
        self.handles = {name: tensor for name, tensor, _ in program._captured()}


def _array(tensor):
    """A copy of the elements. Integers of 64 bits are C's `long long`, as in official Paddle, which NumPy tells from `long` as it
    prints them."""
    array = np.array(tensor.numpy())
    return array.view(np.longlong) if array.dtype == np.int64 else array


def _variable(program: Program, item):
    if not isinstance(item, str):
        return item
    found = program._find(item)
    if found is None:
        raise ValueError(f"[Executor.run] fetch_list: the program has no variable named '{item}'")
    return found


def _flat(fetch_list) -> list:
    if fetch_list is None:
        return []
    if not isinstance(fetch_list, (list, tuple)):
        fetch_list = [fetch_list]
    flat = []
    for i, item in enumerate(fetch_list):
        if isinstance(item, (list, tuple)):
            flat.extend(_flat(item))
        elif isinstance(item, (str, core.Tensor)):
            flat.append(item)
        elif isinstance(item, ir.Operation):
            continue  # what minimize returned: it runs anyway
        else:
            raise TypeError(
                f"Require fetch_list[{i}] 's type shall be one of (Value, str), but received {type(item).__name__}."
            )
    return flat


class Executor:
    """Runs programs on a place.

    Args:
        place: a Place or its name; None: the current device.
    """

    def __init__(self, place=None) -> None:
        if place is None:
            place = core.current_place()
        elif isinstance(place, str):
            from ..framework.place import _get_paddle_place

            place = _get_paddle_place(place)
        self.place = place
        self._closed = False

    def close(self) -> None:
        """The executor can't run anything afterwards."""
        self._closed = True

    def run(
        self,
        program=None,
        feed=None,
        fetch_list=None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope=None,
        return_numpy: bool = True,
        use_program_cache: bool = False,
        use_prune: bool = False,
    ):
        """Runs a program once.

        Args:
            program: a Program or CompiledProgram; None: the default main program.
            feed: name -> array or tensor, for each ``static.data`` that the results or the program's writes depend on.
            fetch_list: variables, or their names.
            scope: where parameters live; None: the global scope.
            return_numpy: NumPy arrays rather than tensors.
            use_prune: only what the results depend on is run; writes (updates of parameters) are left out.
            feed_var_name, fetch_var_name, use_program_cache: accepted; programs are always cached.

        Returns:
            A list with the value of each item of ``fetch_list``.

        Raises:
            TypeError: ``program`` or an item of ``fetch_list`` is of a wrong kind.
            KeyError: an input is not fed.
            ValueError: a value's dtype or shape doesn't fit its input; a name is not in the program; a variable was not
                initialised by the start-up program.
        """
        if self._closed:
            raise RuntimeError("[Executor.run] the executor was closed")
        if isinstance(program, CompiledProgram):
            program = program._program
        program = default_main_program() if program is None else program
        if hasattr(program, "_run_by"):  # a loaded program of another kind
            return program._run_by(self, feed, fetch_list, return_numpy)
        if not isinstance(program, Program):
            raise TypeError(
                f"[Executor.run] program must be a Program or CompiledProgram, got {type(program).__name__}"
            )
        fetches = _flat(fetch_list)
        entry = self._entry(program, fetches, use_prune)
        scope = global_scope() if scope is None else scope
        feed = _as_dict(feed, program)
        with trace.outside():
            _set_rates(program, scope)
            inputs = [self._input(feed, *wanted) for wanted in entry.inputs]
            names = entry.run.parameters
            parameters = [_parameter(scope, n, entry) for n in names]
            fetched, written, generator = entry.run.run(inputs, parameters, program._generator_state())
            program._keep_generator(generator)
            owners = {t.data_ptr(): "" for t in inputs if t.size}
            owners.update((t.data_ptr(), n) for n, t in zip(names, parameters) if t.size)
            for name, value in zip(entry.run.writes, written):
                _write(scope, name, _alone(value, name, owners), entry)
            if return_numpy:
                return [_array(t) for t in fetched]
            return [_alone(t, "", owners) for t in fetched]

    def _entry(self, program: Program, fetches: list, prune: bool) -> _Entry:
        key = (prune, tuple(f if isinstance(f, str) else id(f) for f in fetches))
        entry = program._prepared.get(key)
        if entry is None or entry.edits != program._edits:
            entry = _Entry(program, fetches, not prune)
            program._prepared[key] = entry
        return entry

    def _input(self, feed: dict, name: str, shape: list, dtype):
        if name not in feed:
            raise KeyError(f"[Executor.run] the input '{name}' is not fed; the feed has {sorted(feed)}")
        value = feed[name]
        tensor = value if isinstance(value, core.Tensor) else to_tensor(np.asarray(value), None, self.place)
        if tensor.dtype != dtype:
            if isinstance(value, (int, float, list, tuple)) and not isinstance(value, core.Tensor):
                tensor = tensor.astype(dtype)  # Python numbers have no dtype of their own
            else:
                raise ValueError(
                    f"The data type of fed Variable '{name}' must be '{_bare(dtype)}', but received "
                    f"'{_bare(tensor.dtype)}'"
                )
        given = list(tensor.shape)
        if len(given) != len(shape) or any(w >= 0 and w != g for w, g in zip(shape, given)):
            raise ValueError(
                f"The fed Variable '{name}' should have dimensions = {len(shape)}, shape = {tuple(shape)}, but received "
                f"fed shape {given} on each device"
            )
        return tensor

    def train_from_dataset(self, *args, **kwargs):
        """Not available.

        Raises:
            NotImplementedError: always: feed batches of a DataLoader to ``run``.
        """
        raise NotImplementedError(
            "[Executor] datasets of files are not supported: feed batches of a DataLoader to run()"
        )

    infer_from_dataset = train_from_dataset


def _bare(dtype) -> str:
    return str(dtype).rsplit(".", 1)[-1]


def _as_dict(feed, program) -> dict:
    if feed is None:
        return {}
    if isinstance(feed, (list, tuple)):  # one dict a device; here is one device
        if len(feed) == 1 and isinstance(feed[0], dict):
            return feed[0]
        if not any(isinstance(f, dict) for f in feed):
            raise TypeError(f"[Executor.run] feed must be a dict, got a {type(feed).__name__} without dicts")
        raise TypeError("[Executor.run] a list of feeds needs as many devices; here is one")
    if not isinstance(feed, dict):
        raise TypeError(f"[Executor.run] feed must be a dict, got {type(feed).__name__}")
    return feed


def _set_rates(program: Program, scope) -> None:
    from ..optimizer.lr import LRScheduler

    for rate, optimizer in program._rates.values():
        if isinstance(optimizer._learning_rate, LRScheduler):
            variable = scope.var(rate.name)
            variable.value = core.full([], float(optimizer.get_lr()), "float32")
            variable.value.name = rate.name


def _parameter(scope, name: str, entry: _Entry):
    handle = entry.handles.get(name)
    if handle is None:
        return entry.run.held(name)  # a constant that passes made
    if not handle.persistable and not is_declared(handle):
        return handle  # a constant of the user's
    variable = scope.find_var(name)
    if variable is not None and variable.value is not None:
        return variable.value
    if not is_declared(handle):  # a parameter from outside of the program keeps its own memory
        variable = scope.var(name)
        variable.value, variable.shared = handle, True
        return handle
    if name in entry.run.writes:  # about to get its first value
        return core.full(list(handle.shape), 0, handle.dtype)
    raise ValueError(f"[Executor.run] the variable '{name}' has no value in this scope: run the start-up program first")


def _write(scope, name: str, value, entry: _Entry) -> None:
    handle = entry.handles.get(name)
    if handle is not None and not handle.persistable and not is_declared(handle):
        core.assign_(handle, value)
        return
    variable = scope.var(name)
    if variable.shared:
        core.assign_(variable.value, value)
        return
    value.name, value.persistable = name, True
    variable.value = value


def _alone(tensor, name: str, owners: dict):
    """A copy where the memory is an input's or another variable's: the next run may overwrite a variable in place."""
    if not tensor.size:
        return tensor
    if owners.get(tensor.data_ptr(), name) != name or (not name and tensor.data_ptr() in owners):
        tensor = core.clone(tensor)
    owners[tensor.data_ptr()] = name
    return tensor
