"""Checkpoints of distributed tensors: every rank writes its parts, loading puts them together however the target lies.

A folder holds, for each checkpoint number, a file of parts by each rank (``<rank>_<number>.distcp``) and ``<number>.metadata``, which says
where each part belongs. The latter appears last: a checkpoint is there as a whole or not at all.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import threading
import time

import numpy as np

import paddle

from .._core import dist as _dist
from .auto_parallel.api import text_of
from .communication.group import barrier, default_group
from .communication.ops import all_gather_object
from .per_rank import PerRank

_PATIENCE = 900.0  # seconds that the coordinator waits for the others' files


def _data_file(path, rank, number) -> str:
    return os.path.join(path, f"{rank}_{number}.distcp")


def _meta_file(path, number) -> str:
    return os.path.join(path, f"{number}.metadata")


def _numbers(path) -> list:
    """Of the complete checkpoints in a folder, rising."""
    names = os.listdir(path) if os.path.isdir(path) else []
    return sorted(
        int(n[: -len(".metadata")]) for n in names if n.endswith(".metadata") and n[: -len(".metadata")].isdigit()
    )


def _flat(state, prefix="") -> dict:
    """A nest of dictionaries as one; keys are joined by dots."""
    out: dict = {}
    for key, value in state.items():
        name = f"{prefix}{key}"
        out.update(_flat(value, name + ".") if isinstance(value, dict) else {name: value})
    return out


def _to_array(tensor):
    return np.array(tensor.numpy()), str(tensor.dtype).rsplit(".", 1)[-1]


def _parts_of(state, rank, coordinator):
    """(arrays to write, where each belongs, plain values) of one rank. Of replicas the first holder writes."""
    arrays, places, values = {}, {}, {}
    for key, tensor in state.items():
        if not isinstance(tensor, paddle.Tensor):
            if rank == coordinator:
                values[key] = tensor
            continue
        shape, text = list(tensor.shape), text_of(tensor)
        if text:
            if "P" in text.rsplit("|", 1)[1]:
                raise ValueError(f"[save_state_dict] {key} is Partial; reshard it first")
            here = _dist.local_part(shape, text, rank)
            if here is None or _first_holder(shape, text, here[1]) != rank:
                continue
            offset, tensor = here[1], tensor._local_value()
        elif rank != coordinator:
            continue
        else:
            offset = [0] * len(shape)
        array, dtype = _to_array(tensor)
        item = str(len(arrays))
        arrays[item] = array
        places[key] = {
            "item": item,
            "global_shape": shape,
            "offset": offset,
            "shape": list(array.shape),
            "dtype": dtype,
        }
    return arrays, places, values


def _first_holder(shape, text, offset) -> int:
    ids = [int(i) for i in text.split("|")[1].split(",")]
    return next(r for r in ids if _dist.local_part(shape, text, r)[1] == offset)


def _write(name, data) -> None:
    """The file appears under its name only when it is complete and on the disk."""
    temporary = f"{name}.{os.getpid()}.{threading.get_ident()}.tmp"
    with open(temporary, "wb") as f:
        f.write(data)
        f.flush()
        os.fsync(f.fileno())
    os.replace(temporary, name)


class _Save:
    """The writing of one rank."""

    def __init__(self, path, number, rank, ranks, coordinator, arrays, metadata) -> None:
        self._path, self._number, self._rank, self._ranks = path, number, rank, ranks
        self._coordinator, self._arrays, self._metadata = coordinator, arrays, metadata
        self.error: BaseException | None = None

    def run(self) -> None:
        buffer = io.BytesIO()
        np.savez(buffer, **self._arrays)
        _write(_data_file(self._path, self._rank, self._number), buffer.getbuffer())
        if self._rank == self._coordinator:
            self._wait_for_others()
            _write(_meta_file(self._path, self._number), json.dumps(self._metadata).encode())

    def _wait_for_others(self) -> None:
        missing, deadline = list(self._ranks), time.monotonic() + _PATIENCE
        while missing:
            missing = [r for r in missing if not os.path.exists(_data_file(self._path, r, self._number))]
            if missing and time.monotonic() > deadline:
                raise TimeoutError(f"[save_state_dict] ranks {missing} did not write their parts within {_PATIENCE} s")
            if missing:
                time.sleep(0.01)

    def run_caught(self) -> None:
        try:
            self.run()
        except BaseException as error:
            self.error = error


_running = PerRank(list)  # (thread, save) of asynchronous saves


def wait_for_saves() -> None:
    """Waits until the asynchronous saves of this process have ended. Raises what went wrong in one."""
    running = _running.get()
    while running:
        thread, save = running.pop(0)
        thread.join()
        if save.error is not None:
            raise save.error


def save_state_dict(state_dict, path, process_group=None, coordinator_rank=0, unique_id=None, async_save=False,
                    safetensors=False, save_replicas=False) -> None:  # fmt: skip
    """Writes the tensors of all ranks into the folder ``path``; of replicas one rank writes. Every rank of the group calls it.

    Args:
        state_dict: tensors, distributed or alike on all ranks, and plain values, by name; dictionaries may be nested.
        process_group: the ranks that take part; None: all. coordinator_rank: writes the metadata.
        unique_id: the checkpoint's number; None: one more than the last in the folder.
        async_save: return when the values are copied, and write meanwhile; see :func:`wait_for_saves`. A process that ends waits.

    Raises:
        ValueError: a Partial tensor. NotImplementedError: safetensors, save_replicas.
    """
    if safetensors or save_replicas:
        raise NotImplementedError("[save_state_dict] safetensors and save_replicas are not supported")
    os.makedirs(path, exist_ok=True)
    group = default_group() if process_group is None else process_group
    rank, alone = _dist.rank(), group.nranks == 1
    wait_for_saves()
    arrays, places, values = _parts_of(_flat(state_dict), rank, coordinator_rank)
    number = unique_id if unique_id is not None else (_numbers(path) or [-1])[-1] + 1
    facts: list = [(rank, number, places, values)]
    if not alone:
        facts = []
        all_gather_object(facts, (rank, number, places, values), group)
    number = next(n for r, n, _, _ in facts if r == coordinator_rank)
    metadata = {"pieces": {}, "values": {}}
    for r, _, theirs, plain in facts:
        metadata["values"].update(plain)
        for key, place in theirs.items():
            metadata["pieces"].setdefault(key, []).append({"rank": r, **place})
    for name in (_data_file(path, rank, number), *([_meta_file(path, number)] if rank == coordinator_rank else [])):
        with contextlib.suppress(FileNotFoundError):  # a number that is used again: the old one is not there any more
            os.remove(name)
    if not alone:
        barrier(group)
    save = _Save(path, number, rank, [r for r, *_ in facts], coordinator_rank, arrays, metadata)
    if async_save:
        thread = threading.Thread(target=save.run_caught, name="paddle-save")
        _running.get().append((thread, save))
        thread.start()
        return
    save.run()
    if not alone:
        barrier(group)


def load_state_dict(state_dict, path, process_group=None, coordinator_rank=0, unique_id=None, offload=False,
                    mw_name_compatibility=True, aoa_config=None, safetensors=False, worker_groups=None,
                    comm_method="broadcast") -> None:  # fmt: skip
    """Fills the tensors of ``state_dict`` from a folder that :func:`save_state_dict` wrote, perhaps by other ranks and placements.

    Each rank reads just the parts that its own parts overlap. Plain values in ``state_dict`` are replaced by those of the checkpoint.

    Args:
        unique_id: the checkpoint's number; None: the last complete one.

    Raises:
        FileNotFoundError: there is no complete checkpoint. KeyError: it lacks a tensor. ValueError: shapes differ, or a part is
        missing.
    """
    if aoa_config or safetensors:
        raise NotImplementedError("[load_state_dict] aoa_config and safetensors are not supported")
    wait_for_saves()
    numbers = _numbers(path)
    if not numbers or (unique_id is not None and unique_id not in numbers):
        raise FileNotFoundError(
            f"[load_state_dict] {path} has no complete checkpoint{'' if unique_id is None else f' {unique_id}'}"
        )
    number = numbers[-1] if unique_id is None else unique_id
    with open(_meta_file(path, number)) as f:
        metadata = json.load(f)
    files: dict = {}

    def part(piece):
        if piece["rank"] not in files:
            files[piece["rank"]] = np.load(_data_file(path, piece["rank"], number), allow_pickle=False)
        return files[piece["rank"]][piece["item"]]

    try:
        _fill(state_dict, "", metadata, part, path)
    finally:
        for file in files.values():
            file.close()


def _fill(state, prefix, metadata, part, path) -> None:
    for key, value in state.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            _fill(value, name + ".", metadata, part, path)
        elif not isinstance(value, paddle.Tensor):
            state[key] = metadata["values"].get(name, value)
        elif name not in metadata["pieces"]:
            raise KeyError(f"[load_state_dict] {path} has no tensor {name!r}")
        else:
            _fill_tensor(value, name, metadata["pieces"][name], part)


def _fill_tensor(tensor, name, pieces, part) -> None:
    shape, text = list(tensor.shape), text_of(tensor)
    here = _dist.local_part(shape, text, _dist.rank()) if text else (shape, [0] * len(shape))
    if here is None:
        return
    target, filled = None, 0
    for piece in pieces:
        if piece["global_shape"] != shape:
            raise ValueError(f"[load_state_dict] {name}: expected shape {shape}, the file has {piece['global_shape']}")
        overlap = _overlap(here, piece)
        if overlap is None:
            continue
        array = part(piece)
        target = np.zeros(here[0], array.dtype) if target is None else target
        target[overlap[0]] = array[overlap[1]]
        filled += target[overlap[0]].size
    size = int(np.prod(here[0]))
    if filled < size:
        raise ValueError(
            f"[load_state_dict] {name}: the checkpoint has only {filled} of the {size} elements of this rank's part"
        )
    if size == 0:
        return
    with paddle.no_grad():
        local = tensor._local_value() if text else tensor
        value = (
            paddle._core.to_tensor(target, "bfloat16") if pieces[0]["dtype"] == "bfloat16" else paddle.to_tensor(target)
        )
        local.set_value(value.astype(local.dtype))


def _overlap(here, piece):
    """Where in this rank's part, and in the piece, their common elements lie; None: they have none."""
    to, of = [], []
    for size, at, length, offset in zip(here[0], here[1], piece["shape"], piece["offset"]):
        low, high = max(at, offset), min(at + size, offset + length)
        if low >= high:
            return None
        to.append(slice(low - at, high - at))
        of.append(slice(low - offset, high - offset))
    return tuple(to), tuple(of)
