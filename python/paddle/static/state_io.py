"""Values of programs' state: out of scopes and into them, and files of them for training."""

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


def program_or_default(program, what: str) -> Program:
    if isinstance(program, CompiledProgram):
        program = program._program
    program = default_main_program() if program is None else program
    if not isinstance(program, Program):
        raise TypeError(f"[{what}] program must be a Program, got {type(program).__name__}")
    return program


def listed(variables, what: str, name: str) -> list:
    variables = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    for v in variables:
        if not isinstance(v, core.Tensor):
            raise ValueError(f"[{what}] {name} must be a Variable or a list of Variables, got {type(v).__name__}")
    return variables


def value_of(scope, name: str, tensor):
    """What a variable is worth in a scope; a parameter from outside of the program brings its own value."""
    variable = scope.find_var(name)
    if variable is not None and variable.value is not None:
        return variable.value
    if is_declared(tensor):
        raise ValueError(f"[static] the variable '{name}' has no value in this scope: run the start-up program first")
    return tensor


def value_in(scope, tensor):
    """What a variable is worth in a scope; None: the global one."""
    return value_of(global_scope() if scope is None else scope, tensor.name, tensor)


def write_value(scope, tensor, value) -> None:
    """Writes a tensor of a variable's shape into a scope.

    Raises:
        ValueError: the shapes differ.
    """
    if list(value.shape) != list(tensor.shape):
        raise ValueError(f"[set_value] expected shape {list(tensor.shape)} for {tensor.name}, got {list(value.shape)}")
    with trace.outside():
        value = core.clone(value) if value.dtype == tensor.dtype else value.astype(tensor.dtype)
        put(global_scope() if scope is None else scope, tensor.name, value)


def is_parameter(var) -> bool:
    """Whether a variable is a parameter."""
    return isinstance(var, EagerParamBase)


def get_program_persistable_vars(program) -> list:
    """Variables that are kept in the scope between runs."""
    return list(program._state_vars().values())


def parameter_tensors(program: Program, scope=None) -> dict:
    scope = global_scope() if scope is None else scope
    return {name: value_of(scope, name, tensor) for name, tensor, _ in program._captured()}


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
            found[name] = value_of(scope, name, tensor)
    return found


def _arrays(values: dict) -> dict:
    with trace.outside():
        return {name: np.array(t.numpy()) for name, t in values.items()}


def save(program, model_path: str, protocol: int = 4, **configs) -> None:
    """Writes ``<model_path>.pdparams``, ``.pdopt`` and the program itself, ``.json``.

    Raises:
        ValueError: the path names a folder, or a variable has no value in the global scope.
    """
    program = program_or_default(program, "save")
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
    program = program_or_default(program, "set_program_state")
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
            put(scope, name, value)


def put(scope, name: str, value) -> None:
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
    program = program_or_default(program, "load")
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
    program = program_or_default(main_program, "save_vars")
    chosen = _chosen(program, vars, predicate)
    os.makedirs(dirname or ".", exist_ok=True)
    scope = global_scope()
    with trace.outside():
        if filename is not None:
            tensors = [value_of(scope, v.name, v) for v in sorted(chosen, key=lambda v: v.name)]
            save_to_file(os.path.join(dirname or "", filename), ir.write_tensors(tensors))
            return
        for v in chosen:
            save_to_file(os.path.join(dirname, v.name), ir.write_tensors([value_of(scope, v.name, v)]))


def load_vars(executor, dirname: str, main_program=None, vars=None, predicate=None, filename=None) -> None:
    """Reads what ``save_vars`` wrote into the global scope."""
    program = program_or_default(main_program, "load_vars")
    chosen = sorted(_chosen(program, vars, predicate), key=lambda v: v.name)
    scope = global_scope()
    if filename is not None:
        tensors = ir.read_tensors(load_from_file(os.path.join(dirname or "", filename)))
        if len(tensors) != len(chosen):
            raise ValueError(f"[load_vars] '{filename}' holds {len(tensors)} tensors, {len(chosen)} are asked for")
    else:
        tensors = [ir.read_tensors(load_from_file(os.path.join(dirname, v.name)))[0] for v in chosen]
    for v, tensor in zip(chosen, tensors):
        put(scope, v.name, tensor)


def _chosen(program: Program, vars, predicate) -> list:
    known = program._state_vars()
    if vars is not None:
        return [known[v] if isinstance(v, str) else v for v in vars]
    return [v for v in known.values() if predicate is None or predicate(v)]


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
