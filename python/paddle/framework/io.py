"""``paddle.save`` and ``paddle.load``, in official paddle's file forms."""

from __future__ import annotations

import os
import pickle
import sys
import threading

import numpy as np

from ..base import core
from .io_utils import (
    NAME_TABLE,
    atomic_writer,
    is_file_object,
    join_big_arrays,
    numpy_to_tensor,
    reader,
    split_big_arrays,
    tensor_to_numpy,
)
from .tensor_stream import read_array, write_array
from .unpickler import LoadError, RestrictedUnpickler

__all__ = ["save", "load", "async_save", "clear_async_save_task_queue", "LoadError"]


# ---- saving ---------------------------------------------------------------------------------------------------------
def _is_layer(obj) -> bool:
    layers = sys.modules.get(__name__.split(".", 1)[0] + ".nn")
    return layers is not None and isinstance(obj, layers.Layer)


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj):
        if isinstance(obj, core.Tensor):
            return tuple, ((obj.name, tensor_to_numpy(obj)),)
        if _is_layer(obj):
            raise ValueError("paddle do not support saving `paddle.nn.Layer` object.")
        return NotImplemented


def _contains(obj, wanted) -> bool:
    if wanted(obj):
        return True
    if isinstance(obj, dict):
        return any(_contains(v, wanted) for v in obj.values())
    if isinstance(obj, (list, tuple, set, frozenset)):
        return any(_contains(v, wanted) for v in obj)
    return False


def _is_state_dict(obj) -> bool:
    """A dict of tensors, and of dicts without tensors (such as a scheduler's state)."""
    if not isinstance(obj, dict):
        return False
    for value in obj.values():
        if isinstance(value, dict):
            if any(_contains(v, lambda o: isinstance(o, core.Tensor) or _is_layer(o)) for v in value.values()):
                return False
        elif not isinstance(value, core.Tensor):
            return False
    return True


def _build_saved_state_dict(state_dict):
    """Arrays by key, with the table from key to the tensor's own name."""
    saved, names = {}, {}
    for key, value in state_dict.items():
        if isinstance(value, core.Tensor):
            saved[key] = tensor_to_numpy(value)
            names[key] = value.name
        else:
            saved[key] = value
    saved[NAME_TABLE] = names
    return saved


def _check_protocol(protocol) -> None:
    if not isinstance(protocol, int):
        raise ValueError(f"The 'protocol' MUST be `int`, but received {type(protocol)}")
    if not 1 < protocol < 5:
        raise ValueError(f"Expected 1<'protocol'<5, but received protocol={protocol}")


def _check_configs(configs, known, what) -> None:
    for key in configs:
        if key not in known:
            raise ValueError(f"The additional config ({key}) of `paddle.{what}` is not supported.")


def _is_static(obj, name) -> bool:
    """Whether ``obj`` is of that class of ``paddle.static``, which isn't imported for the question."""
    home = sys.modules.get("paddle.pir.program" if name == "Program" else "paddle.static.scope")
    return home is not None and isinstance(obj, getattr(home, name))


def _save_program(program, path) -> None:
    from ..static.io import ir

    with atomic_writer(path) as file:
        file.write(ir.to_json(program).encode())


def save(obj, path, protocol=4, **configs) -> None:
    """Writes ``obj`` to ``path``.

    Args:
        obj: a state dict, a tensor (of static mode's scopes too), any nest of dicts, lists and tuples of tensors, arrays,
            numbers and strings, or a ``static.Program`` (without values of its parameters).
        path: a file name (missing folders are made; the file appears whole or not at all), or a binary file object.
        protocol: pickle protocol, 2 to 4. Below 4 arrays of 1 GiB and more are cut into slices.
        configs: ``use_binary_format`` (bool): write one tensor in the binary form of ``.pdiparams``.

    Raises:
        ValueError: a Layer (save its ``state_dict()``), an unknown config or protocol, a path without file name.
    """
    _check_protocol(protocol)
    _check_configs(configs, ("use_binary_format", "pickle_protocol"), "save")
    if configs.get("use_binary_format"):
        if not isinstance(obj, core.Tensor):
            raise TypeError("[save] use_binary_format expects a Tensor, got " + type(obj).__name__)
        with atomic_writer(path) as file:
            write_array(file, tensor_to_numpy(obj))
        return
    if _is_layer(obj):
        raise ValueError("paddle do not support saving `paddle.nn.Layer` object.")
    if _is_static(obj, "Program"):
        return _save_program(obj, path)
    if _is_static(obj, "DenseTensor"):
        obj = obj.value
    if _is_state_dict(obj):
        obj = split_big_arrays(_build_saved_state_dict(obj), protocol)
    with atomic_writer(path) as file:
        _Pickler(file, protocol).dump(obj)


# ---- loading --------------------------------------------------------------------------------------------------------
def _transformed_from_varbase(obj) -> bool:
    """Whether ``obj`` is the (name, array) that a tensor becomes inside a nest."""
    return isinstance(obj, tuple) and len(obj) == 2 and isinstance(obj[0], str) and isinstance(obj[1], np.ndarray)


def _transformed_from_lodtensor(obj) -> bool:
    """Whether ``obj`` is the array that a bare tensor becomes."""
    return isinstance(obj, np.ndarray)


def _to_LodTensor(ndarray):  # noqa: N802 - a name that clients use
    return numpy_to_tensor(ndarray)


def _tuple_to_tensor(obj, return_numpy):
    return obj[1] if return_numpy else numpy_to_tensor(obj[1], obj[0])


def _ndarray_to_tensor(obj, return_numpy):
    return obj if return_numpy else numpy_to_tensor(obj)


def _parse_every_object(obj, condition_func, convert_func):
    """A copy of a nest with ``convert_func`` applied where ``condition_func`` holds."""
    if condition_func(obj):
        return convert_func(obj)
    if isinstance(obj, dict):
        converted = [(k, _parse_every_object(v, condition_func, convert_func)) for k, v in obj.items()]
        if type(obj) is dict:
            return dict(converted)
        for key, value in converted:
            obj[key] = value
        return obj
    if isinstance(obj, (list, tuple, set)):
        return type(obj)(_parse_every_object(v, condition_func, convert_func) for v in obj)
    return obj


def _parse_load_result(obj, return_numpy):
    if _contains(obj, _transformed_from_varbase):
        return _parse_every_object(obj, _transformed_from_varbase, lambda o: _tuple_to_tensor(o, return_numpy))
    return _parse_every_object(obj, _transformed_from_lodtensor, lambda o: _ndarray_to_tensor(o, return_numpy))


def _load_state(state, keep_name_table, return_numpy):
    names = state[NAME_TABLE] if keep_name_table else state.pop(NAME_TABLE)
    for key, value in state.items():
        if isinstance(value, np.ndarray):
            state[key] = value if return_numpy else numpy_to_tensor(value, names.get(key))
    return state


def _load_program(data: bytes, where: str):
    from ..static.io import deserialize_program

    try:
        return deserialize_program(data)
    except (ValueError, RuntimeError) as error:
        raise LoadError(f"[load] {where}: {error}") from error


def load(path, **configs):
    """Reads what ``save`` wrote, here or in official paddle. Nothing in the file is ever executed.

    Args:
        path: a file name or a binary file object.
        configs: ``return_numpy`` (bool): arrays in place of tensors (bfloat16 as uint16);
            ``keep_name_table`` (bool): keep the table from a state dict's keys to tensor names;
            ``model_filename``, ``params_filename``: file names within a folder ``path`` of a saved program.

    Raises:
        ValueError: no such file, an unknown config. LoadError (a ValueError): the file is damaged or not plain data.
    """
    _check_configs(
        configs, ("return_numpy", "keep_name_table", "model_filename", "params_filename", "weights_only"), "load"
    )
    return_numpy = bool(configs.get("return_numpy"))
    where = "<file object>" if is_file_object(path) else os.fspath(path)
    if not is_file_object(path) and not os.path.isfile(path):
        path = where = _program_params(where, configs)
    with reader(path) as file:
        start = file.read(1)
        file.seek(-len(start), os.SEEK_CUR)
        if start == b"\0":
            return _load_binary(file, where, return_numpy)
        if start == b"{":
            return _load_program(file.read(), where)
        result = RestrictedUnpickler(file, where).load()
    if isinstance(result, dict):
        try:
            result = join_big_arrays(result)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise LoadError(f"[load] {where}: damaged slices of a large array: {error}") from error
    try:
        if isinstance(result, dict) and isinstance(result.get(NAME_TABLE), dict):
            return _load_state(result, bool(configs.get("keep_name_table")), return_numpy)
        return _parse_load_result(result, return_numpy)
    except (TypeError, ValueError, RecursionError) as error:  # names, element types, depths that no tensor has
        raise LoadError(f"[load] {where}: holds what can't be a tensor: {error}") from error


def _program_params(path, configs):
    """The file of parameters of a saved program: within a folder, or beside the prefix ``path``."""
    folder_file = os.path.join(path, configs.get("params_filename") or "__params__")
    for candidate in (folder_file, path + ".pdparams", path + ".pdiparams"):
        if os.path.isfile(candidate):
            return candidate
    raise ValueError(f"The ``path`` ({path}) to load model not exists.")


def _load_binary(file, where, return_numpy):
    arrays = []
    while (array := read_array(file, where)) is not None:
        arrays.append(array if return_numpy else numpy_to_tensor(array))
    return arrays[0] if len(arrays) == 1 else arrays


# ---- saving in the background ---------------------------------------------------------------------------------------
_async_tasks: list[threading.Thread] = []


def _to_host(obj):
    return _parse_every_object(
        obj, lambda o: isinstance(o, core.Tensor), lambda t: _HostTensor(t.name, tensor_to_numpy(t))
    )


class _HostTensor:
    """A tensor's name and a copy of its values, taken when the save was asked for."""

    def __init__(self, name, array):
        self.name, self.array = name, array.copy()

    def __reduce__(self):
        return tuple, ((self.name, self.array),)


def async_save(obj, path, protocol=4, sync_other_task: bool = False, **configs) -> None:
    """``save`` in a thread: values are copied now, written later. Wait with ``clear_async_save_task_queue``.

    ``sync_other_task``: first wait for the saves under way.
    """
    _check_protocol(protocol)
    _check_configs(configs, (), "async_save")
    if sync_other_task:
        clear_async_save_task_queue()
    if _is_state_dict(obj):
        saved = _build_saved_state_dict(obj)
        saved = split_big_arrays({k: v.copy() if isinstance(v, np.ndarray) else v for k, v in saved.items()}, protocol)
    else:
        saved = _to_host(obj)

    def write():
        with atomic_writer(path) as file:
            _Pickler(file, protocol).dump(saved)

    thread = threading.Thread(target=write, name="paddle.async_save")
    thread.start()
    _async_tasks.append(thread)


def clear_async_save_task_queue() -> None:
    """Waits until every save started by ``async_save`` has ended."""
    while _async_tasks:
        _async_tasks.pop().join()
