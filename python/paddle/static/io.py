"""Files of programs: for training (``save``, ``load``), and for inference (``.json`` and ``.pdiparams``, as Paddle 3)."""

from __future__ import annotations

import os
import pickle

import numpy as np

from .._core import ir, to_tensor, trace
from ..base import core
from ..base.framework import EagerParamBase
from ..framework.io import load as load_pickle
from ..pir.program import Program
from .compiler import CompiledProgram
from .program import default_main_program
from .scope import global_scope
from .state import is_declared

__all__ = [
    "deserialize_persistables",
    "deserialize_program",
    "load",
    "load_from_file",
    "load_inference_model",
    "load_program_state",
    "load_vars",
    "normalize_program",
    "save",
    "save_inference_model",
    "save_to_file",
    "save_vars",
    "serialize_persistables",
    "serialize_program",
    "set_program_state",
]


def _program(program, what: str) -> Program:
    if isinstance(program, CompiledProgram):
        program = program._program
    program = default_main_program() if program is None else program
    if not isinstance(program, Program):
        raise TypeError(f"[{what}] program must be a Program, got {type(program).__name__}")
    return program


def _listed(variables, what: str, name: str) -> list:
    variables = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    for v in variables:
        if not isinstance(v, core.Tensor):
            raise ValueError(f"[{what}] {name} must be a Variable or a list of Variables, got {type(v).__name__}")
    return variables


def _value(scope, name: str, tensor):
    """What a variable is worth in a scope; a parameter from outside of the program brings its own value."""
    variable = scope.find_var(name)
    if variable is not None and variable.value is not None:
        return variable.value
    if is_declared(tensor):
        raise ValueError(f"[static] the variable '{name}' has no value in this scope: run the start-up program first")
    return tensor


def _parameter_tensors(program: Program, scope=None) -> dict:
    scope = global_scope() if scope is None else scope
    return {name: _value(scope, name, tensor) for name, tensor, _ in program._captured()}


# ---- for training
def program_state(program: Program, mode: str = "all", scope=None) -> dict:
    """Values by name: ``"param"`` parameters, ``"opt"`` other persistable variables, ``"all"`` both.

    Raises:
        ValueError: another mode; a variable has no value in the scope.
    """
    if mode not in ("all", "opt", "param"):
        raise ValueError(f"mode must be all, opt or param, got {mode!r}")
    scope = global_scope() if scope is None else scope
    found = {}
    for name, tensor in program._state_vars().items():
        is_parameter = isinstance(tensor, EagerParamBase) or getattr(tensor, "is_parameter", False)
        if mode == "all" or (mode == "param") == is_parameter:
            found[name] = _value(scope, name, tensor)
    return found


def _arrays(values: dict) -> dict:
    with trace.outside():
        return {name: np.array(t.numpy()) for name, t in values.items()}


def save(program, model_path: str, protocol: int = 4, **configs) -> None:
    """Writes ``<model_path>.pdparams``, ``.pdopt`` and the program itself, ``.json``.

    Raises:
        ValueError: the path names a folder, or a variable has no value in the global scope.
    """
    program = _program(program, "save")
    if not os.path.basename(model_path):
        raise ValueError(
            "The input model_path MUST be format of dirname/filename [dirname\\filename in Windows system]"
        )
    folder = os.path.dirname(model_path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    for ending, mode in ((".pdparams", "param"), (".pdopt", "opt")):
        with open(model_path + ending, "wb") as f:
            pickle.dump(_arrays(program_state(program, mode)), f, protocol=protocol)
    with open(model_path + ".json", "w") as f:
        f.write(ir.to_json(program.clone()))


def load_program_state(model_path: str, var_list=None) -> dict:
    """What ``save`` wrote: name -> array.

    Raises:
        ValueError: there are no such files.
    """
    prefix = model_path
    for ending in (".pdparams", ".pdopt", ".pdmodel", ".json"):
        if prefix.endswith(ending):
            prefix = prefix[: -len(ending)]
    state = {}
    for ending in (".pdparams", ".pdopt"):
        if os.path.exists(prefix + ending):
            loaded = load_pickle(prefix + ending, return_numpy=True)
            state.update({k: v for k, v in loaded.items() if k != "StructuredToParameterName@@"})
    if not state:
        raise ValueError(f"[load_program_state] no parameters at '{model_path}'")
    if var_list is not None:
        names = {v if isinstance(v, str) else v.name for v in var_list}
        state = {k: v for k, v in state.items() if k in names}
    return state


def set_program_state(program, state_dict: dict, scope=None) -> None:
    """Writes arrays into the scope; names that the program doesn't know are left out.

    Raises:
        ValueError: a shape is another one than the variable's.
    """
    program = _program(program, "set_program_state")
    scope = global_scope() if scope is None else scope
    known = program._state_vars()
    with trace.outside():
        for name, array in state_dict.items():
            if name not in known:
                continue
            value = array if isinstance(array, core.Tensor) else to_tensor(np.asarray(array), None, None)
            if list(value.shape) != list(known[name].shape):
                raise ValueError(
                    f"[set_program_state] expected shape {list(known[name].shape)} for '{name}', got {list(value.shape)}"
                )
            if value.dtype != known[name].dtype:
                value = value.astype(known[name].dtype)
            _put(scope, name, value)


def _put(scope, name: str, value) -> None:
    variable = scope.var(name)
    if variable.shared:
        core.assign_(variable.value, value)
        return
    value.name, value.persistable = name, True
    variable.value = value


def load(program, model_path: str, executor=None, var_list=None) -> None:
    """Reads what ``save`` wrote into the global scope.

    Raises:
        ValueError: there are no such files, or one lacks a parameter of the program.
    """
    program = _program(program, "load")
    state = load_program_state(model_path, var_list)
    if var_list is None:
        for name in program_parameters(program):
            if name not in state:
                raise ValueError(f"[static.load] '{model_path}' has no value for the parameter '{name}'")
    set_program_state(program, state)


def program_parameters(program: Program) -> list:
    """Names of the parameters."""
    return [p.name for p in program.all_parameters()]


def save_vars(executor, dirname: str, main_program=None, vars=None, predicate=None, filename=None) -> None:
    """Writes chosen variables, each to a file of its own or all to ``filename``, as ``.pdiparams`` files hold tensors."""
    program = _program(main_program, "save_vars")
    chosen = _chosen(program, vars, predicate)
    os.makedirs(dirname or ".", exist_ok=True)
    scope = global_scope()
    with trace.outside():
        if filename is not None:
            tensors = [_value(scope, v.name, v) for v in sorted(chosen, key=lambda v: v.name)]
            save_to_file(os.path.join(dirname or "", filename), ir.write_tensors(tensors))
            return
        for v in chosen:
            save_to_file(os.path.join(dirname, v.name), ir.write_tensors([_value(scope, v.name, v)]))


def load_vars(executor, dirname: str, main_program=None, vars=None, predicate=None, filename=None) -> None:
    """Reads what ``save_vars`` wrote into the global scope."""
    program = _program(main_program, "load_vars")
    chosen = sorted(_chosen(program, vars, predicate), key=lambda v: v.name)
    scope = global_scope()
    if filename is not None:
        tensors = ir.read_tensors(load_from_file(os.path.join(dirname or "", filename)))
        if len(tensors) != len(chosen):
            raise ValueError(f"[load_vars] '{filename}' holds {len(tensors)} tensors, {len(chosen)} are asked for")
    else:
        tensors = [ir.read_tensors(load_from_file(os.path.join(dirname, v.name)))[0] for v in chosen]
    for v, tensor in zip(chosen, tensors):
        _put(scope, v.name, tensor)


def _chosen(program: Program, vars, predicate) -> list:
    known = program._state_vars()
    if vars is not None:
        return [known[v] if isinstance(v, str) else v for v in vars]
    return [v for v in known.values() if predicate is None or predicate(v)]


# ---- for inference
def normalize_program(program, feed_vars, fetch_vars, **kwargs) -> Program:
    """A copy that computes just ``fetch_vars`` from ``feed_vars``, in its form for inference.

    Raises:
        TypeError: ``program`` is no Program.
        ValueError: ``feed_vars`` or ``fetch_vars`` holds something else than variables; the results depend on an input that
            is not in ``feed_vars``.
    """
    if not isinstance(program, Program):
        raise TypeError(f"program type must be `paddle.static.Program`, but received `{type(program)}`")
    feeds = _listed(feed_vars, "normalize_program", "feed_vars")
    fetches = _listed(fetch_vars, "normalize_program", "fetch_vars")
    pruned = ir.pruned(program, fetches)
    pruned.set_is_test_attr(True)
    names = [v.name for v in feeds]
    missing = [n for n in pruned._input_names if n not in names]
    if missing and not kwargs.get("skip_prune_program"):
        raise ValueError(f"[normalize_program] the results depend on {missing}, which feed_vars lacks")
    pruned._is_test = True
    pruned._declared_here = dict(program._declared_here)
    pruned._feed_names = [n for n in names if n in pruned._input_names]
    return pruned


def _file_names(prefix: str, kwargs: dict) -> tuple:
    if not isinstance(prefix, str):
        raise ValueError("'path_prefix' should be a string.")
    return prefix + ".json", prefix + ".pdiparams"


def save_inference_model(path_prefix: str, feed_vars, fetch_vars, executor, **kwargs) -> None:
    """Writes ``<path_prefix>.json``, what computes ``fetch_vars`` from ``feed_vars``, and ``.pdiparams``.

    Args:
        program (Program, optional): keyword; the default main program if left out.

    Raises:
        ValueError: the prefix is no str, or names a folder; see ``normalize_program``.
    """
    program_file, params_file = _file_names(path_prefix, kwargs)
    if not os.path.basename(path_prefix):
        raise ValueError("path_prefix should be a path prefix, not a directory")
    folder = os.path.dirname(path_prefix)
    if folder:
        os.makedirs(folder, exist_ok=True)
    pruned = normalize_program(_program(kwargs.get("program"), "save_inference_model"), feed_vars, fetch_vars)
    with open(program_file, "w") as f:
        f.write(ir.to_json(pruned))
    save_to_file(params_file, _serialized(pruned))


def _serialized(program: Program) -> bytes:
    tensors = _parameter_tensors(program)
    with trace.outside():
        return ir.write_tensors([tensors[name] for name in sorted(tensors)])


def load_inference_model(path_prefix, executor, **kwargs) -> list:
    """Reads what ``save_inference_model``, ``paddle.jit.save`` or official Paddle 3 wrote.

    Args:
        path_prefix: prefix of the files, a folder with ``model_filename`` and ``params_filename``, or None where those are
            the contents themselves.

    Returns:
        [program, names of its inputs, its outputs]. Parameters are in the global scope.

    Raises:
        ValueError: the files are missing, or of Paddle 2 (``.pdmodel``).
    """
    model, params = kwargs.get("model_filename"), kwargs.get("params_filename")
    if path_prefix is None:
        text, data = _text(model), params or b""
    else:
        if model is None:
            prefix = path_prefix[:-5] if path_prefix.endswith(".json") else path_prefix
            program_file, params_file = prefix + ".json", prefix + ".pdiparams"
        else:
            program_file = os.path.join(path_prefix, model)
            params_file = os.path.join(path_prefix, params) if params else None
        text = read_program_text(program_file)
        data = load_from_file(params_file) if params_file and os.path.exists(params_file) else b""
    program = deserialize_program(text)
    if data:
        deserialize_persistables(program, data, executor)
    return [program, program._input_names, program._fetched]


def read_program_text(path: str) -> str:
    """A program's file.

    Raises:
        ValueError: there is none, or it is one of Paddle 2.
    """
    if not os.path.exists(path):
        old = os.path.splitext(path)[0] + ".pdmodel"
        if os.path.exists(old):
            path = old
        else:
            raise ValueError(f"[load_inference_model] no program at '{path}'")
    if path.endswith(".pdmodel"):
        raise ValueError(
            f"[load_inference_model] '{path}' is a program of Paddle 2; convert it with official Paddle 3 "
            "(paddle.static.load_inference_model, then save_inference_model), which writes a .json"
        )
    return ir.read_text(path)


def _text(program) -> str:
    return program.decode() if isinstance(program, bytes) else program


def serialize_program(feed_vars, fetch_vars, **kwargs) -> bytes:
    """The file that ``save_inference_model`` writes, as bytes."""
    pruned = normalize_program(_program(kwargs.get("program"), "serialize_program"), feed_vars, fetch_vars)
    return ir.to_json(pruned).encode()


def serialize_persistables(feed_vars, fetch_vars, executor, **kwargs) -> bytes:
    """The parameters that ``save_inference_model`` writes, as bytes."""
    pruned = normalize_program(_program(kwargs.get("program"), "serialize_persistables"), feed_vars, fetch_vars)
    return _serialized(pruned)


def deserialize_program(data) -> Program:
    """A program from what ``serialize_program`` gave."""
    program = ir.from_json(_text(data), {}, Program)
    program._is_test = True
    for name, tensor, _ in program._captured():
        tensor._declared = True
        program._declared_here[name] = tensor
    return program


def deserialize_persistables(program, data: bytes, executor) -> None:
    """Puts what ``serialize_persistables`` gave into the global scope, under the names of ``program``'s parameters.

    Raises:
        ValueError: the numbers or shapes of tensors differ.
    """
    names = sorted(name for name, _, _ in program._captured())
    tensors = ir.read_tensors(data)
    if len(names) != len(tensors):
        raise ValueError(f"[deserialize_persistables] the program has {len(names)} parameters, the data {len(tensors)}")
    handles = program._state_vars()
    for name, tensor in zip(names, tensors):
        if list(tensor.shape) != list(handles[name].shape):
            raise ValueError(
                f"[deserialize_persistables] expected shape {list(handles[name].shape)} for '{name}', got "
                f"{list(tensor.shape)}"
            )
        _put(global_scope(), name, tensor)


def save_to_file(path: str, content: bytes) -> None:
    """Writes bytes, beside first and then renamed.

    Raises:
        ValueError: ``content`` isn't bytes.
    """
    if not isinstance(content, bytes):
        raise ValueError("'content' type should be bytes.")
    with open(path + ".tmp", "wb") as f:
        f.write(content)
    os.replace(path + ".tmp", path)


def load_from_file(path: str) -> bytes:
    """A file's bytes."""
    with open(path, "rb") as f:
        return f.read()
