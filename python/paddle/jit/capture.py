"""Capture: run a function once under a trace and keep the program, the structure of its results and what it assumed."""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from . import _trace_api as api
from . import layer_calls
from ._state import state
from .dy2static import convert
from .dy2static.containers import GrownList, TracedList, as_result
from .dy2static.errors import is_unusable, raise_unusable
from .dy2static.slots import in_reach
from .guards import AttributeWrite, GuardSet, Recorder
from .objects import opened
from .structure import LEAF, flatten, unflatten

HOLE = object()


class NewState(Exception):
    """The trace found attributes that may carry tensors from call to call: they must be inputs too, unless their owners go with the
    trace."""

    def __init__(self, attributes: list[tuple[Any, str, type]]) -> None:
        self.attributes = attributes


class SizesNeeded(Exception):
    """The capture failed where sizes were symbolic."""


class Segmented:
    """A call that ran in segments, with Python between them."""

    def __init__(self, result: Any, recorder: Recorder) -> None:
        self.result, self.breaks, self.functions = result, recorder.breaks, recorder.functions


class ConcreteProgram:
    """One traced program of a static function, with guards and the structure of its results."""

    def __init__(self, function, program, runner, guards: GuardSet, specs, recorder: Recorder) -> None:
        self.function = function
        self.main_program = program
        self.startup_program = None
        self.runner = runner
        self.guards = guards
        self.specs = specs
        self.functions = recorder.functions
        self.prologue = recorder.prologue
        self.out_structure: Any = LEAF
        self.template: list = []  # static results, HOLE where the program's outputs go
        self.sizes: list[int] = []  # holes that are Python ints
        self.writes: list[tuple[AttributeWrite, Any, list]] = []  # attribute, structure, template
        self._only = False
        self._fits = getattr(runner, "fits", None)

    def fits(self, tensors: list) -> bool:
        """Whether the program is for arguments that share memory as these do."""
        return self._fits is None or self._fits(tensors)

    @property
    def inputs(self) -> list:
        return list(getattr(self.main_program, "inputs", self.specs))

    @property
    def outputs(self) -> list:
        return list(getattr(self.main_program, "outputs", []))

    @property
    def parameters(self) -> list:
        return list(getattr(self.main_program, "parameters", []))

    def set_results(self, structure, template, sizes, writes) -> None:
        self.out_structure, self.template, self.sizes, self.writes = structure, template, sizes, writes
        self._only = structure == LEAF and template == [HOLE] and not sizes and not writes

    def run(self, tensors: list) -> Any:
        for step in self.prologue:
            step()
        outs = self.runner(*tensors)
        if self._only:
            return outs[0]
        it = iter(outs)
        leaves = [next(it) if v is HOLE else v for v in self.template]
        for i in self.sizes:
            leaves[i] = int(leaves[i])
        for write, structure, template in self.writes:
            value = unflatten(structure, [next(it) if v is HOLE else v for v in template])
            if write.owner is not None:
                setattr(write.owner, write.name, value)
        return unflatten(self.out_structure, leaves)


class Request(NamedTuple):
    """What to capture: ``call`` is the transformed function, called with ``args`` and ``kwargs`` of the given structure.

    ``leaves`` are the leaves of the arguments, then those of the attributes in ``attributes``; where ``is_input`` says so, an
    input of the program described by the next of ``metas`` takes its place.
    """

    function: Callable
    call: Callable[[], Callable]
    structure: Any
    leaves: list
    is_input: list[bool]
    metas: list
    attributes: list | None  # (weak owner, name); None: attributes keep their values, nothing is written back
    owner: Any
    full_graph: bool
    options: dict
    segments: Any = None  # where to find compiled segments: the capture may be interrupted
    given: list | None = None  # the tensors for the inputs, then
    segmented: bool = False  # an earlier call was interrupted
    own: frozenset = frozenset()  # (type, attribute) of objects that the function makes
    # Where the program is to know which memory they share: the tensors for the inputs, and captured ones that they share it with.
    shared: tuple | None = None


def capture(request: Request) -> ConcreteProgram | Segmented:
    """Trace and compile. The attributes that the function assigned hold their old values again afterwards.

    Where the capture was interrupted, the call has happened instead, and its result is given.

    Raises:
        NewState: the trace assigned tensors to attributes that it also reads: capture again with them as inputs.
    """
    recorder = Recorder()
    recorder.breakable, recorder.segmented = request.segments is not None, request.segmented
    segments = (request.given, request.segments, recorder.on_break, recorder.on_run) if recorder.breakable else ()
    if not segments and request.shared is not None:
        segments = (request.shared[0], None, None, None, request.shared[1])
    handle, inputs = api.begin_trace(request.function.__name__, request.metas, *segments)
    finished = False
    try:
        with _recording(recorder, request.full_graph):
            it = iter(inputs)
            traced = [next(it) if given else v for v, given in zip(request.leaves, request.is_input)]
            count = _count(request.structure)
            args, kwargs = unflatten(request.structure, traced[:count])
            _enter_attributes(request.attributes or [], recorder, traced[count:])
            if isinstance(request.owner, api.layer_class()):
                recorder.layer(request.owner)
            try:
                result = request.call()(*args, **kwargs)
            except BaseException as error:
                error._jst_ran = bool(recorder.breaks)
                # What Python saw happen has happened.
                if recorder.breaks and api.can_break():
                    api.finish_segments(handle, False)
                raise
            if recorder.breakable and api.finish_segments(handle, request.segmented):
                return Segmented(_finished(result), recorder)
            outs, results = _results(opened(result))
            writes = _attribute_results(request, recorder, outs) if request.attributes is not None else []
        program = api.end_trace(handle, outs, request.attributes is not None)
        finished = True
    finally:
        for write in recorder.attributes.values():
            if recorder.segmented:
                break  # Python has run: what it assigned stays
            if write.holds_tensors or not finished or request.attributes is None:
                write.restore()
        if not finished:
            api.abort_trace(handle)
    runner = api.compile(program, request.options)
    if request.shared is not None:
        runner.assume_shared_as(request.shared[0])
    entry = ConcreteProgram(request.function, program, runner, recorder.guards(), request.metas, recorder)
    entry.set_results(*results, writes)
    if getattr(runner, "reads_grads", False):
        entry.guards.runner = runner
    return entry


def _finished(result):
    leaves: list = []
    structure = flatten(result, leaves)
    for v in leaves:
        if is_unusable(v):
            raise_unusable(v)
    if not any(api.is_symint(v) for v in leaves):
        return result
    return unflatten(structure, [int(v) if api.is_symint(v) else v for v in leaves])


def _enter_attributes(attributes: list, recorder: Recorder, values: list) -> None:
    it = iter(values)
    for weak, name in attributes:
        owner = weak()
        recorder.attribute(owner, name)
        structure = flatten(getattr(owner, name, None), [])
        setattr(owner, name, unflatten(structure, it))


def _results(result) -> tuple[list, tuple]:
    """The program's outputs, and (structure, template, sizes) to build the function's result from them."""
    leaves: list = []
    structure = _grown(flatten(result, leaves))
    outs, template, sizes = [], [], []
    for i, v in enumerate(leaves):
        if is_unusable(v):
            raise_unusable(v)
        if api.is_tensor(v) or api.is_array(v):
            outs.append(as_result(v) if api.is_array(v) else v)
            template.append(HOLE)
        elif api.is_symint(v):
            outs.append(api.constant(v))
            template.append(HOLE)
            sizes.append(i)
        else:
            template.append(v)
    return outs, (structure, template, sizes)


def _attribute_results(request: Request, recorder: Recorder, outs: list) -> list:
    """Attributes that now hold tensors of the trace become outputs; ``outs`` is extended."""
    known = {(id(o()), n) for o, n in request.attributes}
    found, writes = [], []
    own = {id(w.owner) for w in recorder.attributes.values() if _made_here(w.before)}
    for write in recorder.attributes.values():
        owner = write.owner
        if owner is not None and id(owner) in own:
            continue  # an object that the function made: what it holds leaves only with a result
        leaves: list = []
        structure = flatten(getattr(owner, write.name, None), leaves) if owner is not None else LEAF
        write.holds_tensors = any(api.is_tensor(v) for v in leaves) or (id(owner), write.name) in known
        if not write.holds_tensors or owner is None:
            continue
        if not write.existed and not in_reach(leaves):
            continue  # of an object of one round
        if write.existed and (id(owner), write.name) not in known and recorder.reads(write.name):
            if (type(owner), write.name) in request.own:
                continue
            found.append((_reference(owner), write.name, type(owner)))
        outs += [v for v in leaves if api.is_tensor(v)]
        writes.append((write, structure, [HOLE if api.is_tensor(v) else v for v in leaves]))
    if found:
        raise NewState(found)
    return writes


def _made_here(value) -> bool:
    leaves: list = []
    flatten(value, leaves)
    return any(api.is_tensor(v) and api.in_program(v) for v in leaves)


def _count(structure) -> int:
    return 1 if structure == LEAF else sum(_count(c) for c in structure[2])


def _grown(structure):
    if structure == LEAF:
        return structure
    cls, extra, children = structure
    return (GrownList if cls is TracedList else cls, extra, tuple([_grown(c) for c in children]))


class _Held:
    """Stands for a weak reference to what can't have one."""

    def __init__(self, owner) -> None:
        self._owner = owner

    def __call__(self):
        alone = sys.getrefcount(self._owner) <= 2  # this object's and the question's
        return None if alone else self._owner


def _reference(owner) -> Callable[[], Any]:
    try:
        return weakref.ref(owner)
    except TypeError:
        return _Held(owner)


@contextlib.contextmanager
def _recording(recorder: Recorder, full_graph: bool):
    def notify(fn, owner):
        if state.recorder is recorder:
            recorder.function(fn, owner)

    before = state.recorder, state.full_graph
    state.recorder, state.full_graph = recorder, full_graph
    state.loop_plans.clear()
    convert.on_convert.append(notify)
    try:
        with layer_calls.converted():
            yield
    finally:
        convert.on_convert.remove(notify)
        state.loop_plans.clear()
        state.recorder, state.full_graph = before
