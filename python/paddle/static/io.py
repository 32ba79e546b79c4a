"""Files of programs: for training (``save``, ``load``), and for inference (``.json`` and ``.pdiparams``, as Paddle 3)."""

from __future__ import annotations

import os

from .._core import ir, trace
from ..jit.formats import check_format, naming
from ..pir.program import Program
from .scope import global_scope
from .state_io import (
    get_program_persistable_vars,
    is_parameter,
    listed,
    load,
    load_from_file,
    load_program_state,
    load_vars,
    parameter_tensors,
    program_or_default,
    program_state,
    put,
    save,
    save_to_file,
    save_vars,
    set_program_state,
    value_in,
    write_value,
)

__all__ = [
    "get_program_persistable_vars",
    "is_parameter",
    "program_state",
    "value_in",
    "write_value",
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


def normalize_program(program, feed_vars, fetch_vars, **kwargs) -> Program:
    """A copy that computes just ``fetch_vars`` from ``feed_vars``, in its form for inference.

    Raises:
        TypeError: ``program`` is no Program.
        ValueError: ``feed_vars`` or ``fetch_vars`` holds something else than variables; the results depend on an input that
            is not in ``feed_vars``.
    """
    if not isinstance(program, Program):
        raise TypeError(f"program type must be `paddle.static.Program`, but received `{type(program)}`")
    feeds = listed(feed_vars, "normalize_program", "feed_vars")
    fetches = listed(fetch_vars, "normalize_program", "fetch_vars")
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
        NotImplementedError: ``legacy_format`` or ``FLAGS_json_format_model=0`` asks for a protobuf program (``.pdmodel``).
    """
    check_format("save_inference_model", kwargs)
    program_file, params_file = _file_names(path_prefix, kwargs)
    if not os.path.basename(path_prefix):
        raise ValueError("path_prefix should be a path prefix, not a directory")
    folder = os.path.dirname(path_prefix)
    if folder:
        os.makedirs(folder, exist_ok=True)
    pruned = normalize_program(program_or_default(kwargs.get("program"), "save_inference_model"), feed_vars, fetch_vars)
    tensors = parameter_tensors(pruned)
    with trace.outside():
        text = ir.to_json(pruned, [tensors[name] for name in sorted(tensors)])
    with open(program_file, "w") as f:
        f.write(text)
    if pruned._captured():
        save_to_file(params_file, _serialized(pruned))
    elif os.path.exists(params_file):
        os.remove(params_file)  # a program without parameters has no such file


def _serialized(program: Program) -> bytes:
    tensors = parameter_tensors(program)
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
    with naming("load_inference_model", program_file if path_prefix is not None else None):
        program = deserialize_program(text)
    with naming("load_inference_model", params_file if path_prefix is not None else None):
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
    pruned = normalize_program(program_or_default(kwargs.get("program"), "serialize_program"), feed_vars, fetch_vars)
    return ir.to_json(pruned).encode()


def serialize_persistables(feed_vars, fetch_vars, executor, **kwargs) -> bytes:
    """The parameters that ``save_inference_model`` writes, as bytes."""
    pruned = normalize_program(
        program_or_default(kwargs.get("program"), "serialize_persistables"), feed_vars, fetch_vars
    )
    return _serialized(pruned)


def deserialize_program(data) -> Program:
    """A program from what ``serialize_program`` gave."""
    program = ir.from_json(_text(data), {}, Program)
    program._is_test = True
    for name, tensor, _ in program._captured():
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
    ir.compare_digest(program, tensors)
    for name, tensor in zip(names, tensors):
        if list(tensor.shape) != list(handles[name].shape):
            raise ValueError(
                f"[deserialize_persistables] expected shape {list(handles[name].shape)} for '{name}', got "
                f"{list(tensor.shape)}"
            )
        put(global_scope(), name, tensor)
