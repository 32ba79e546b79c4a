"""Checkpoints of distributed tensors: every rank writes its parts, loading puts them together however the target lies."""

from __future__ import annotations

import io
import json
import os

import numpy as np

import paddle

from .._core import dist as _dist
from .auto_parallel.api import text_of


def _file(path, rank) -> str:
    return os.path.join(path, f"{rank}_0.distcp")


def _to_array(tensor):
    name = str(tensor.dtype).rsplit(".", 1)[-1]
    return np.array(tensor.numpy()), name


def save_state_dict(state_dict, path, process_group=None, coordinator_rank=0, unique_id=None, async_save=False) -> None:
    """Writes this rank's parts of the tensors into the folder ``path``; of replicas one rank writes.

    Every rank calls it. A file appears under its name only when it is complete.
    """
    os.makedirs(path, exist_ok=True)
    rank, parts, meta = _dist.rank(), {}, {}
    for key, tensor in state_dict.items():
        shape, text = list(tensor.shape), text_of(tensor)
        if text:
            here = _dist.local_part(shape, text, rank)
            if here is None or _first_holder(shape, text, here[1]) != rank:
                continue
            if "P" in text.rsplit("|", 1)[1]:
                raise ValueError(f"[save_state_dict] {key} is Partial; reshard it first")
            offset, tensor = here[1], tensor._local_value()
        elif rank != coordinator_rank:
            continue
        else:
            offset = [0] * len(shape)
        array, dtype = _to_array(tensor)
        item = str(len(parts))
        parts[item] = array
        meta[key] = {"item": item, "global_shape": shape, "offset": offset, "shape": list(array.shape), "dtype": dtype}
    buffer = io.BytesIO()
    np.savez(buffer, **parts)
    _write(_file(path, rank), buffer.getbuffer())
    _write(os.path.join(path, f"{rank}.metadata.json"), json.dumps(meta).encode())
    if _dist.connected() and _dist.world_size() > 1:
        _dist.barrier(0)


def _first_holder(shape, text, offset) -> int:
    ids = [int(i) for i in text.split("|")[1].split(",")]
    return next(r for r in ids if _dist.local_part(shape, text, r)[1] == offset)


def _write(name, data) -> None:
    temporary = f"{name}.{os.getpid()}.tmp"
    with open(temporary, "wb") as f:
        f.write(data)
    os.replace(temporary, name)


def load_state_dict(state_dict, path, process_group=None, coordinator_rank=0, unique_id=None, offload=False) -> None:
    """Fills the tensors of ``state_dict`` from a folder that :func:`save_state_dict` wrote, perhaps by other ranks and placements.

    Raises:
        KeyError: the folder lacks a tensor. ValueError: shapes differ.
    """
    pieces: dict = {}
    for name in sorted(os.listdir(path)):
        if name.endswith(".metadata.json"):
            with open(os.path.join(path, name)) as f:
                meta = json.load(f)
            for key, m in meta.items():
                pieces.setdefault(key, []).append((int(name.split(".")[0]), m))
    opened: dict = {}
    for key, tensor in state_dict.items():
        if key not in pieces:
            raise KeyError(f"[load_state_dict] {path} has no tensor {key!r}")
        shape, text = list(tensor.shape), text_of(tensor)
        here = _dist.local_part(shape, text, _dist.rank()) if text else (shape, [0] * len(shape))
        if here is None:
            continue
        target = None
        for rank, m in pieces[key]:
            if m["global_shape"] != shape:
                raise ValueError(f"[load_state_dict] {key}: expected shape {shape}, the file has {m['global_shape']}")
            if rank not in opened:
                opened[rank] = np.load(_file(path, rank), allow_pickle=False)
            array = opened[rank][m["item"]]
            target = np.zeros(here[0], array.dtype) if target is None else target
            _copy_overlap(target, here[1], array, m["offset"])
        with paddle.no_grad():
            local = tensor._local_value() if text else tensor
            local.set_value(
                paddle.to_tensor(target).astype(local.dtype) if target.dtype != np.uint16 else _bfloat16(target)
            )


def _bfloat16(array):
    return paddle._core.to_tensor(array, "bfloat16")


def _copy_overlap(target, at, piece, offset) -> None:
    to, of = [], []
    for d in range(target.ndim):
        low, high = max(at[d], offset[d]), min(at[d] + target.shape[d], offset[d] + piece.shape[d])
        if low >= high:
            return
        to.append(slice(low - at[d], high - at[d]))
        of.append(slice(low - offset[d], high - offset[d]))
    target[tuple(to)] = piece[tuple(of)]
