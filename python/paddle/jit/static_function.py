"""StaticFunction: a Python function that runs as a cached, compiled program."""

from __future__ import annotations

import functools
import gc
import inspect
import time
import types
import weakref
from typing import Any

from . import _trace_api as api
from . import reasons as reasons_of
from ._state import switches
from .arguments import canonical, declared_axes, fewest, positional_names
from .cache import Family, ProgramCache
from .capture import ConcreteProgram, NewState, Request, Segmented, SizesNeeded, capture
from .dy2static import convert
from .dy2static.errors import Dy2StaticError, trim_traceback
from .report import Event, Report
from .structure import flatten

_EAGER = object()
_SEGMENTED = object()


class StaticFunction:
    """The result of ``paddle.jit.to_static``: called like the function it was made from.

    Args:
        function: a Python function, or a method's function (then bound through ``instance`` or by attribute look-up).
        input_spec: InputSpecs for the leading arguments; None sizes in them are symbolic from the first call.
        build_strategy, backend: how programs are compiled.
        full_graph: a place that can't be captured is an error. Otherwise a segment of the program ends there.
    """

    def __init__(
        self,
        function,
        input_spec=None,
        build_strategy=None,
        backend=None,
        full_graph=None,
        property=False,
        instance=None,
    ) -> None:
        if inspect.ismethod(function):
            instance, function = function.__self__, function.__func__
        self._function = function
        self._instance = instance
        if input_spec is not None and not isinstance(input_spec, (list, tuple)):
            raise TypeError(
                f"The type(input_spec) should be one of (tuple, list), but received {type(input_spec).__name__}."
            )
        self._input_spec = list(input_spec) if input_spec is not None else None
        self._build_strategy, self._backend = build_strategy, backend
        self._full_graph = (input_spec is not None) if full_graph is None else bool(full_graph)
        self._property = property
        self._training = True
        self._cache = ProgramCache()
        self._exact = self._cache.exact
        self._state: list[tuple[Any, str]] = []  # attributes that are inputs: (weak owner, name)
        self._own: frozenset = frozenset()  # of objects that the capture to come makes: (type, attribute)
        self._events: list[Event] = []
        self._calls = 0
        self._last: ConcreteProgram | None = None
        self._segments: Any = None  # compiled segments, of calls that can't be captured whole
        self._bound: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self._plain = True  # False: replaced by enable_to_static or rollback
        convert.load()
        functools.update_wrapper(self, function)
        self.__dict__.pop(convert._CONVERTED, None)
        self._parameters = positional_names(function, bound=instance is not None)
        self._arity = len(self._parameters)
        self._fewest = fewest(self._parameters, function)

    # ---- binding ------------------------------------------------------------------------------------------------

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        if self._property:
            return self._bind(instance)()
        return self._bind(instance)

    def _bind(self, instance) -> StaticFunction:
        try:
            known = self._bound.get(instance)
        except TypeError:
            return self._clone(instance)
        if known is None:
            known = self._bound[instance] = self._clone(instance)
        return known

    def _clone(self, instance) -> StaticFunction:
        return type(self)(
            self._function,
            self._input_spec,
            self._build_strategy,
            self._backend,
            self._full_graph,
            self._property,
            # The instance's dictionary of bound functions must not keep the instance alive.
            _weak(instance),
        )

    def _owner(self):
        instance = self._instance
        return instance() if type(instance) is weakref.ref else instance

    @property
    def dygraph_function(self):
        """The function as it was before ``to_static``, bound to its instance."""
        owner = self._owner()
        return self._function if owner is None else types.MethodType(self._function, owner)

    @property
    def class_instance(self):
        return self._owner()

    @property
    def is_property(self) -> bool:
        return self._property

    def __jst_inline__(self):
        """What transformed code calls: the function becomes part of the program that is being traced."""
        return convert.convert_call(self.dygraph_function)

    # ---- calling ------------------------------------------------------------------------------------------------

    def __call__(self, *args, **kwargs):
        if not switches.enabled:
            return self.dygraph_function(*args, **kwargs)
        if api.tracing():
            return self.__jst_inline__()(*args, **kwargs)
        self._calls += 1
        mode = (api.state_key(), self._training)
        if not kwargs and self._fewest <= len(args) <= self._arity and not self._state:
            quick = api.quick_signature(args)
            if quick is not None:
                parts, tensors = quick
                entry = self._hit((parts, mode), tensors)
                if type(entry) is ConcreteProgram:
                    return entry.run(tensors)
                if entry is _EAGER:
                    return self.dygraph_function(*args)
        return self._call(args, kwargs, mode)

    def _hit(self, key, tensors):
        """The program remembered for ``key`` whose guards hold now."""
        for entry in self._exact.get(key, ()):
            if type(entry) is not ConcreteProgram or (entry.guards.hold() and entry.fits(tensors)):
                return entry
        return None

    def _call(self, args, kwargs, mode):
        quick = None
        if not kwargs and self._fewest <= len(args) <= self._arity and not self._state:
            quick = api.quick_signature(args)
        args, kwargs = canonical(args, kwargs, self._parameters, self._function)
        leaves: list = []
        structure = flatten((args, kwargs), leaves)
        if any(owner() is None for owner, _ in self._state):
            self._forget_owners()
        for owner, name in self._state:
            structure = (structure, flatten(getattr(owner(), name, None), leaves))
        parts, tensors = api.signature(leaves)
        key = (structure, parts, mode) if quick is None else (quick[0], mode)
        entry = self._hit(key, tensors)
        if entry is None or entry is _SEGMENTED:
            return self._miss(key, mode, args, kwargs, leaves, structure, tensors, entry is _SEGMENTED)
        return entry.run(tensors) if entry is not _EAGER else self.dygraph_function(*args, **kwargs)

    def _miss(self, key, mode, args, kwargs, leaves, structure, tensors, segmented=False):
        parts = api.python_signature(leaves)[0]
        shapes = [tuple(t.shape) for t in tensors]
        rest = tuple([(p[0], len(p[1]), p[2]) if len(p) == 3 else p for p in parts])
        family_key = (structure, rest, *mode)
        family = self._cache.families.get(family_key)
        reasons = reasons_of.nearest(self._cache.families, family_key, self._names) if family is None else []
        if family is None:
            family = self._cache.families[family_key] = Family(shapes, declared_axes(self._input_spec, args, tensors))
        names = [n for n, v in zip(self._names(structure), leaves) if api.is_tensor(v)]
        for i, axis, old, new in family.widen(shapes):
            reasons.append(f"size {axis} of {names[i]} was {old}, now {new}: symbolic from now on")
        pattern = family.pattern(shapes)
        concrete = [t.shape for t in tensors]
        entry = None
        closed = family.pattern(shapes, closed=True)
        if not segmented:

            def serves(e):
                return e.runner.accepts(concrete) and e.guards.hold() and e.fits(tensors)

            entry = self._cache.find(family, pattern, serves)
            if entry is None and closed != pattern:
                entry = self._cache.find(family, closed, serves)
        if entry is None:
            reasons += reasons_of.why_again(family, pattern, concrete)
            segmented = segmented or family.segmented
            try:
                call = (args, kwargs, leaves, tensors, shapes)
                try:
                    entry = self._capture_or_fall_back(
                        *call, pattern, names, reasons, segmented=segmented, can_close=pattern != closed
                    )
                except SizesNeeded as why:
                    reasons.append(f"captured for these sizes alone: {why}")
                    entry = self._capture_or_fall_back(*call, closed, names, reasons, segmented=segmented)
                    pattern, family.closed = closed, True
                if type(entry) is ConcreteProgram and not entry.fits(tensors):
                    if not self._full_graph:
                        return self.dygraph_function(*args, **kwargs)
                    reasons.append("arguments share memory that is written: captured for arguments that do so alike")
                    pattern = tuple(shapes)
                    shared = (tensors, entry.runner.sharing(tensors))
                    entry = self._capture_or_fall_back(
                        *call, pattern, names, reasons, segmented=segmented, shared=shared
                    )
            except NewState as found:
                attributes = found.attributes
            else:
                attributes = None
            if attributes is not None:
                return self._again_with(attributes, args, kwargs)
            if entry is _EAGER:
                self._cache.remember(key, _EAGER)
                return self.dygraph_function(*args, **kwargs)
            if type(entry) is Segmented:
                family.segmented = True
                self._cache.remember(key, _SEGMENTED)
                return entry.result
            self._cache.add(family, pattern, entry)
        self._cache.remember(key, entry)
        return entry.run(tensors)

    def _forget_owners(self) -> None:
        """Programs that carry attributes of objects that are gone can't serve any more."""
        self._state = [(owner, name) for owner, name in self._state if owner() is not None]
        self._cache.clear()

    def _again_with(self, attributes, args, kwargs):
        """Call again, with attributes as inputs that carry tensors from call to call."""
        gc.collect(1)
        # Objects that went with the trace were the function's own.
        self._own = frozenset([(cls, name) for owner, name, cls in attributes if owner() is None])
        self._state += [(owner, name) for owner, name, _ in attributes if owner() is not None]
        self._cache.clear()
        self._calls -= 1
        return self(*args, **kwargs)

    def _capture_or_fall_back(
        self, args, kwargs, leaves, tensors, shapes, pattern, names, reasons, segmented, can_close=False, shared=None
    ):
        began = time.perf_counter()
        structure = flatten((args, kwargs), [])
        metas = [
            api.TensorMeta(p, t.dtype, t.stop_gradient, n, s, getattr(t, "is_leaf", True))
            for p, t, n, s in zip(pattern, tensors, names, shapes)
        ]
        inputs = [f"{n}: {api.dtype_name(m.dtype)}{list(m.shape)}" for n, m in zip(names, metas)]
        kind = "retraced" if any(e.kind in ("traced", "retraced") for e in self._events) else "traced"
        if self._segments is None and not self._full_graph:
            self._segments = api.new_segments(self._backend)
        try:
            is_input = [api.is_tensor(v) for v in leaves]
            entry = self._capture(
                structure, leaves, is_input, metas, self._full_graph, self._state, tensors, segmented, shared
            )
        except (Dy2StaticError, api.graph_break_error(), NotImplementedError, SystemError) as error:
            if can_close and not getattr(error, "_jst_ran", False):
                raise SizesNeeded(f"{type(error).__name__}: {error}") from None
            if isinstance(error, SystemError):
                raise trim_traceback(error)
            where = reasons_of.user_line(error)
            if getattr(error, "_jst_ran", False):  # a part of the call has happened
                raise trim_traceback(error) from None
            if self._full_graph:
                error.add_note(f"while capturing '{self._function.__qualname__}' whole (full_graph=True), at {where}")
                raise trim_traceback(error) from None
            text = [*reasons, f"{type(error).__name__}: {error} at {where}"]
            self._events.append(Event("eager", self._calls, inputs, text, None, time.perf_counter() - began))
            return _EAGER
        except NewState:
            raise
        except Exception as error:
            raise trim_traceback(error)
        if type(entry) is Segmented:
            if not segmented or any(b.compiled for b in entry.breaks):
                seconds = time.perf_counter() - began
                self._events.append(
                    Event("segmented", self._calls, inputs, reasons, None, seconds, tuple(entry.breaks))
                )
            return entry
        size = getattr(entry.main_program, "num_ops", None)
        self._events.append(Event(kind, self._calls, inputs, reasons, size, time.perf_counter() - began))
        self._last = entry
        return entry

    def _names(self, structure) -> list[str]:
        """A name for each leaf of the arguments: ``x``, ``batch['mask']``."""
        return reasons_of.leaf_names(structure, self._parameters, [name for _, name in self._state])

    # ---- what users look at -------------------------------------------------------------------------------------

    @property
    def concrete_program(self) -> ConcreteProgram:
        """The program traced last; one is made from ``input_spec`` if there is none yet."""
        return self.concrete_program_specify_input_spec(None)

    def concrete_program_specify_input_spec(self, input_spec=None) -> ConcreteProgram:
        if input_spec is None and self._last is not None:
            return self._last
        spec = input_spec if input_spec is not None else self._input_spec
        if spec is None:
            raise ValueError(
                f"No valid program of '{self._function.__qualname__}' yet: call it once, or give input_spec to to_static."
            )
        return self.get_concrete_program(*spec)[0]

    def get_concrete_program(self, *args, **kwargs) -> tuple[ConcreteProgram, Any]:
        """Trace for InputSpecs or values without running; returns the program and its runner."""
        args, kwargs = canonical(args, kwargs, self._parameters, self._function)
        leaves: list = []
        structure = flatten((args, kwargs), leaves)
        is_input = [hasattr(v, "shape") and hasattr(v, "dtype") for v in leaves]
        metas = []
        for name, v, given in zip(self._names(structure), leaves, is_input):
            if given:
                shape = tuple(None if n in (None, -1) else n for n in v.shape)
                stop = getattr(v, "stop_gradient", True)
                metas.append(api.TensorMeta(shape, v.dtype, stop, getattr(v, "name", None) or name, None))
        try:
            entry = self._capture(structure, leaves, is_input, metas, full_graph=True, attributes=None)
        except Exception as error:
            raise trim_traceback(error)
        self._last = entry
        return entry, entry.runner

    def _capture(
        self,
        structure,
        leaves,
        is_input,
        metas,
        full_graph: bool,
        attributes: list | None,
        given=None,
        segmented=False,
        shared=None,
    ) -> ConcreteProgram | Segmented:
        name = self._function.__qualname__
        options = {"build_strategy": self._build_strategy, "backend": self._backend, "name": name}
        owner, call = self._owner(), self.__jst_inline__
        segments = self._segments if given is not None and not full_graph else None
        request = (self._function, call, structure, leaves, is_input, metas, attributes, owner, full_graph, options)
        own, self._own = self._own, frozenset()
        return capture(
            Request(*request, segments, given, segmented, own, shared if segments is None else None)
        )

    @property
    def code(self) -> str:
        """The transformed source."""
        text = convert.transformed_source(self._function)
        return text if text is not None else inspect.getsource(self._function)

    @property
    def inputs(self) -> list:
        return self.concrete_program.inputs

    @property
    def outputs(self) -> list:
        return self.concrete_program.outputs

    @property
    def main_program(self):
        return self.concrete_program.main_program

    @property
    def program_cache(self) -> ProgramCache:
        return self._cache

    @property
    def function_spec(self):
        return self._input_spec

    def get_traced_count(self) -> int:
        return len(self._cache.entries())

    def report(self) -> Report:
        """What was captured, what was traced again and why, and what runs eagerly."""
        functions = self._last.functions if self._last is not None else []
        return Report(self._function.__qualname__, list(self._events), self._calls, self.get_traced_count(), functions)

    def rollback(self):
        """Undo ``to_static`` on a method: the instance calls the original function again. Returns that."""
        original = self.dygraph_function
        owner = self._owner()
        if owner is not None and owner.__dict__.get(self._function.__name__) is self:
            del owner.__dict__[self._function.__name__]
            in_class = inspect.getattr_static(type(owner), self._function.__name__, None)
            if in_class is not self._function:
                owner.__dict__[self._function.__name__] = original
        elif owner is not None:
            owner.__dict__[self._function.__name__] = original
        return original

    def train(self) -> None:
        self._training = True

    def eval(self) -> None:
        self._training = False

    def __deepcopy__(self, memo):
        """A copied Layer gets the original function: it is made static anew where the copy asks for it."""
        import copy

        owner = self._owner()
        if owner is None:
            return self
        twin = memo.get(id(owner)) or copy.deepcopy(owner, memo)
        return self._clone(twin)

    def __repr__(self) -> str:
        return f"<StaticFunction {self._function.__qualname__}>"


def _weak(instance):
    try:
        return weakref.ref(instance)
    except TypeError:
        return instance
