"""The one place where ``paddle.jit`` touches the core.

Everything else in this package (and ``paddle.static.nn``'s control flow) is plain Python over the functions below. They
delegate to ``_core``, a namespace that offers

* ``Tensor``: the tensor class. ``GraphBreak``: the exception that a traced tensor raises when Python asks for its value.
* ``is_traced(x)``: ``x`` is a Tensor whose value only a running program knows. While a trace is active that holds for every
  Tensor, captured ones included.
* ``in_program(x)``: x is a Tensor that the trace made. ``tracing()``: a trace is active on this thread.
* ``is_symint(x)``: ``x`` is a symbolic size (or a comparison of such) of the active trace.
* ``begin_trace(name, specs, given=None, segments=None, on_break=None, on_run=None) -> (trace, inputs)``, ``end_trace(trace, outputs, histories=True) -> program``,
  ``abort_trace(trace)``. ``specs`` are :class:`TensorMeta`; ``outputs`` is a flat list of Tensors. Without ``histories`` tensors that the program
  writes don't get the gradients of what it wrote. Where ``given`` are the tensors that the inputs stand for, the program is for tensors that
  share memory as these do. With ``segments`` (a ``Segments(backend)``, optional)
  a value that Python asks for ends a segment: ``on_break(why, where)`` is called, what was captured is compiled or found in
  the cache and run on the tensors ``given`` for the inputs, ``on_run(operators, compiled now)`` is called, all tensors of the trace have their
  elements, and the trace goes on. ``finish_segments(trace, always)`` runs the rest if there was such a break, or ``always``, and says so.
  ``can_break()``: not inside a region, and with segments.
* ``runner.fits(tensors) -> bool`` (optional): whether the program holds for tensors that share memory with each other and with captured ones as these do,
  ``runner.assume_shared_as(tensors)``: it was captured with all of that known.
* ``compile(program, options) -> runner``; ``runner(*inputs) -> list`` runs it as one node of the eager graph.
  ``runner.accepts(shapes) -> bool`` evaluates the guards on sizes that the trace recorded.
* ``Region(inits, shapes, needs_grad)``: a block of the program under construction, used as a context manager (again and again): operators
  called inside are appended to it. ``.args`` are its arguments, one for each of ``inits``; ``shapes[i]`` replaces the
  argument's shape (None for a size that differs between rounds); ``needs_grad[i]`` says that a gradient passes the argument
  though none passes its init. Tensor handles overwritten inside (in-place operators,
  ``x[i] = v``) mean their outer value again on exit; ``.writes`` lists them as ``(handle, value inside)``, without those
  that were made inside.
* ``gradient_region(tensors)``: a Region whose ``.args`` are gradients of the tensors, to come. ``build_custom_grad(what, inputs, computed, stops,
  [(given, region, gradients of the inputs or None)]) -> results``: what was computed, with a gradient of its own; ``given`` has bit i for
  each result that has a gradient (zeros stand for others). ``add_gradient_hook(tensor, region, result, eagerly) -> name``, where ``eagerly(tensor)``
  registers it on a tensor from outside and returns how to remove it; ``remove_gradient_hook(name)``. ``region_leaks(region, result)``: someone
  holds what was made in the region.
* ``build_if(pred, r_true, outs_true, r_false, outs_false) -> outputs``.
* ``build_while(cond, inits, region, next_cond, next_values) -> outputs``.
* ``outside()``: a context manager in which calls are not captured. ``rebind(handle, value)``: from here on the handle means ``value``. ``alias(handle)``: a new handle for what it means now.
* ``same_size(a, b)``: two sizes are the same number or the same expression; records no guard.
* ``constant(value, shape, dtype)``, ``cast(x, dtype)``, ``logical_and/or/not``, ``assert_(cond, parts)``, ``print_(arguments, options)``: an argument is a list of parts,
  strings and (tensor, conversion, format or None for the tensor as it is); ``options`` are sep, end, file (stdout or stderr) and flush.
* ``array_create(dtype, items, shape)`` (``shape``: of an item, where there is none yet), ``array_write(a, i, v)``, ``array_read(a, i)``, ``array_length(a)``, ``array_pop(a, i)`` (returns
  array and item), ``array_stack(a, axis)``, ``array_concat(a, axis)``, ``array_rows(a)``, ``array_elements(a)`` (optional; None while only a running program knows them); their class is ``Array``. Arrays are values: writing returns the new array.
* ``quick_signature(args) -> (key, tensors) | None`` (optional): :func:`signature` for a tuple of plain tensors and numbers, in C++; None
  for anything else. ``signature(leaves) -> (key, tensors)`` (optional): the tensors among the leaves of a call's arguments, and a hashable key of everything about
  them that a program depends on (dtype, shape, stop_gradient)
  with the other leaves' types and values. NumPy arrays
  among the leaves are replaced by tensors. ``to_tensor(array)``.
* ``unchanged(entries, tables) -> bool`` (optional): every ``dict[key] is value`` of the entries (dict, key, value, ...), and every table (dict, values) still
  has these objects in this order.
* ``kept_bytes(key) -> bytes | None`` and ``keep_bytes(key, value)`` (optional): what processes share on disk, with the build's own
  identity added to the key. An entry is given back as it was written or not at all.
* ``state_key() -> hashable``: grad mode, AMP, default dtype, device, flags. ``save(...)``/``load(...)``: program files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_core: Any = None


class TensorMeta(NamedTuple):
    """What a trace must know about one input.

    ``shape`` has None where the size is symbolic; ``hint`` is the shape seen at this call (None: no call yet). ``leaf``: the tensor
    was made by the user.
    """

    shape: tuple
    dtype: Any
    stop_gradient: bool
    name: str | None = None
    hint: tuple | None = None
    leaf: bool = True


def core() -> Any:
    """The namespace that implements tracing, loaded at first use so that importing ``paddle.jit`` stays cheap."""
    global _core
    if _core is None:
        from paddle._core import trace as _core
    return _core


def install(namespace: Any) -> Any:
    """Replace the core (tests run the transformation on a reference interpreter); returns the previous one."""
    global _core
    previous, _core = _core, namespace
    return previous


def is_tensor(x: Any) -> bool:
    return isinstance(x, core().Tensor)


def is_traced(x: Any) -> bool:
    return isinstance(x, core().Tensor) and core().is_traced(x)


def in_program(x: Any) -> bool:
    """A value of a program that is captured; no tensor from outside."""
    return core().in_program(x)


def is_symint(x: Any) -> bool:
    # Every Python number passes here on its way through a traced loop: the exact types need no look at the core.
    if type(x) in (int, bool, float):
        return False
    return core().is_symint(x)


def tracing() -> bool:
    return core().tracing()


def graph_break_error() -> type[BaseException]:
    return core().GraphBreak


def begin_trace(name, specs, *segments):
    return core().begin_trace(name, specs, *segments)


def new_segments(backend):
    """A cache of compiled segments; None where the core can't interrupt a capture."""
    make = getattr(core(), "Segments", None)
    return make and make(backend)


def finish_segments(trace, always: bool) -> bool:
    return core().finish_segments(trace, always)


def can_break() -> bool:
    return core().can_break()


def end_trace(trace, outputs, histories=True):
    return core().end_trace(trace, outputs, histories)


def abort_trace(trace):
    return core().abort_trace(trace)


def compile(program, options):
    return core().compile(program, options)


def region(inits=(), shapes=None, needs_grad=None):
    return core().Region(list(inits), shapes, needs_grad)


def gradient_region(tensors):
    return core().gradient_region(list(tensors))


def build_custom_grad(what, inputs, computed, stops, regions):
    return core().build_custom_grad(what, list(inputs), list(computed), list(stops), list(regions))


def py_layer_record(cls, ctx, inputs, result) -> None:
    """Record a forward that has run in the eager graph."""
    from paddle import _core as extension

    extension.py_layer_record(cls, ctx, list(inputs), result)


def add_gradient_hook(tensor, region, result, eagerly) -> int:
    return core().add_gradient_hook(tensor, region, result, eagerly)


def remove_gradient_hook(name: int) -> None:
    core().remove_gradient_hook(name)


def region_leaks(region, result) -> bool:
    return core().region_leaks(region, result)


def host_call(function, inputs, types) -> list:
    """An operation that calls ``function(list of tensors) -> list`` when the program runs; ``types`` are (shape, dtype)."""
    return core().host_call(function, list(inputs), list(types))


def break_here(why: str) -> None:
    core().break_here(why)


def build_if(pred, r_true, outs_true, r_false, outs_false):
    return core().build_if(pred, r_true, outs_true, r_false, outs_false)


def build_while(cond, inits, body, next_cond, next_values):
    return core().build_while(cond, inits, body, next_cond, next_values)


def outside():
    """A context manager: operators called in it are not captured."""
    return core().outside()


def loop_sharing(body, entries, outs, held) -> str | None:
    """What a loop's body writes in place, of what its variables are before the loop or a round and other names may mean, too: None,
    "first" (only the first round does) or "every". ``held``: other Python objects than the variable hold the entry."""
    ask = getattr(core(), "loop_sharing", None)
    return ask and ask(body, list(entries), list(outs), list(held))


def note_choice(result, condition, yes, no, around=()) -> None:
    """``result`` is ``yes`` itself where the condition holds, else ``no`` itself. ``around``: what :func:`looked_into` says."""
    note = getattr(core(), "note_choice", None)
    if note:
        note(result, condition, yes, no, list(around))


def looked_into(body, entries, outs, value) -> list:
    """The tensors outside that ``value``, which a loop's body leaves, may look into."""
    ask = getattr(core(), "looked_into", None)
    return ask(body, list(entries), list(outs), value) if ask else []


def check_choice(yes, no) -> None:
    """GraphBreak where one of the two is a tensor that the end of a segment couldn't find again."""
    ask = getattr(core(), "check_choice", None)
    if ask and is_tensor(yes) and is_tensor(no):
        ask(yes, no)


def rebind(handle, value):
    core().rebind(handle, value)


def alias(handle):
    return core().alias(handle)


def same_size(a, b) -> bool:
    return a is b or bool(core().same_size(a, b))


def is_array(x: Any) -> bool:
    return isinstance(x, core().Array)


def constant(value, shape=(), dtype=None):
    return core().constant(value, shape, dtype)


def cast(x, dtype):
    return core().cast(x, dtype)


def logical_and(a, b):
    return core().logical_and(a, b)


def logical_or(a, b):
    return core().logical_or(a, b)


def logical_not(a):
    return core().logical_not(a)


def assert_(cond, message):
    core().assert_(cond, [message] if isinstance(message, str) else message)


def print_(args, options):
    core().print_(args, options)


def dtype_name(dtype) -> str:
    """``paddle.float32`` -> ``float32``; NumPy dtypes and strings pass too."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or str(dtype)
    return name.rsplit(".", 1)[-1].lower()


def default_dtype() -> str:
    return dtype_name(core().get_default_dtype())


_NUMBERS = (int, bool, str, type(None))


def unchanged():
    """The core's ``unchanged``; where it has none, one that leaves the question to whoever asks."""
    return getattr(core(), "unchanged", lambda entries, tables: False)


def quick_signature(args: tuple) -> tuple | None:
    """See the module's docstring. Where the core has one in C++ that is used; this is the definition."""
    fast = getattr(core(), "quick_signature", None)
    if fast is not None:
        return fast(args)
    tensor = core().Tensor
    key, tensors = [], []
    for v in args:
        cls = type(v)
        if cls is tensor:
            tensors.append(v)
            key.append((v.dtype, tuple(v.shape), v.stop_gradient))
        elif cls in _NUMBERS:
            key.append((cls, v))
        else:
            return None
    return tuple(key), tensors


def signature(leaves: list) -> tuple:
    """See the module's docstring."""
    fast = getattr(core(), "signature", None)
    return fast(leaves) if fast is not None else python_signature(leaves)


def python_signature(leaves: list) -> tuple:
    key, tensors = [], []
    for i, v in enumerate(leaves):
        if isinstance(v, np.ndarray):
            v = leaves[i] = to_tensor(v)
        if is_tensor(v):
            tensors.append(v)
            key.append((v.dtype, tuple(v.shape), v.stop_gradient))
        elif type(v) is float:
            key.append((float, v.hex()))  # 0.0 and -0.0 are equal and yet differ
        else:
            try:
                hash(v)
                key.append((type(v), v))
            except TypeError:
                key.append((type(v), id(v)))
    return tuple(key), tensors


def to_tensor(array):
    return core().to_tensor(array)


def as_dtype(dtype):
    """A dtype object from a dtype object, a name or a NumPy dtype."""
    return core().as_dtype(dtype)


def kept_bytes(key: bytes) -> bytes | None:
    find = getattr(core(), "kept_bytes", None)
    return find and find(key)


def keep_bytes(key: bytes, value: bytes) -> None:
    keep = getattr(core(), "keep_bytes", None)
    if keep is not None:
        keep(key, value)


def layer_class() -> type:
    """``paddle.nn.Layer``."""
    own = getattr(core(), "Layer", None)
    if own is not None:
        return own
    from paddle.nn.layer.layers import Layer

    return Layer


def layers_call(instead: Callable | None) -> None:
    """While something is traced, ``instead(layer, inputs, kwargs)`` runs where a layer is called (None: no more).

    The class asks a name of its own module, since an attribute put on the class would make Python forget what it
    remembers of the attributes of all layers' classes.
    """
    sys.modules[layer_class().__module__].while_traced = instead


def state_key():
    return core().state_key()


def array_create(dtype, items, shape=None):
    return core().array_create(dtype, items, shape)


def array_write(array, index, value):
    return core().array_write(array, index, value)


def array_read(array, index):
    return core().array_read(array, index)


def array_rows(array):
    """All items as rows of one tensor, with a row of zeros after them; None where their sizes may differ."""
    return core().array_rows(array)


def array_elements(array) -> list | None:
    """The items, where a segment's end has made them known."""
    known = getattr(core(), "array_elements", None)
    return known and known(array)


def array_length(array):
    return core().array_length(array)


def array_pop(array, index):
    return core().array_pop(array, index)


def array_stack(array, axis):
    return core().array_stack(array, axis)


def array_concat(array, axis):
    return core().array_concat(array, axis)


def save(path, programs, configs):
    """Write ``{method: (ConcreteProgram, layer or function, positions of results, names)}`` with the parameters they capture to ``path``.*

    Where ``names`` isn't None, inputs that the results don't follow from are left out, but for those."""
    return core().save(path, programs, configs)


def load(path, configs):
    """Read what :func:`save` wrote: an object with ``methods`` (name -> (runner, specs, out structure)) and ``parameters``."""
    return core().load(path, configs)
