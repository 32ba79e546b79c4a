"""Samples of the records as NumPy arrays and as tensors."""

from __future__ import annotations

import functools
import json
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
FLOATS = {"float16", "bfloat16", "float32", "float64"}


@functools.cache
def rows() -> list[dict]:
    """What the generator says about every record."""
    sys.path.insert(0, str(ROOT / "tools"))
    from opgen import derive, emit_tests, schema

    families = schema.load(ROOT)
    derive.complete(families, ROOT)
    return json.loads(emit_tests.rows(families))


def by_name() -> dict[str, dict]:
    return {r["op"]: r for r in rows()}


def is_spec(v: object) -> bool:
    return isinstance(v, dict) and "dtype" in v and "shape" in v


def array(spec: dict, seed: str) -> np.ndarray:
    """Values for a tensor of a sample; a bfloat16 comes as float32 that is representable in it."""
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    shape, dtype = spec["shape"], spec["dtype"]
    if "values" in spec:
        a = np.array(spec["values"]).reshape(shape)
    elif dtype == "bool":
        a = rng.random(shape) < 0.5
    elif dtype in FLOATS:
        a = rng.uniform(spec.get("low", -2.0), spec.get("high", 2.0), shape)
    elif dtype.startswith("complex"):
        a = rng.uniform(spec.get("low", -2.0), spec.get("high", 2.0), shape) + 1j * rng.uniform(-2, 2, shape)
    else:
        a = rng.integers(int(spec.get("low", -4 if dtype.startswith("int") else 0)), int(spec.get("high", 5)), shape)
    if dtype == "bfloat16":
        bits = np.ascontiguousarray(a, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
        return bits.view(np.float32).reshape(shape)
    a = np.asarray(a).astype(dtype)
    if "nan" in spec.get("flags", ()):
        flat = a.reshape(-1)
        flat[:: max(1, flat.size // 3)] = [np.nan, np.inf, -np.inf, np.nan][: len(flat[:: max(1, flat.size // 3)])]
    return a


@dataclass
class Sample:
    """values: argument -> NumPy array, list of arrays, or Python value, in the order of args."""

    row: dict
    index: int
    values: dict[str, object]
    dtypes: dict[str, str]
    flags: dict[str, list[str]]

    @property
    def id(self) -> str:
        return f"{self.row['op']}-{self.index}"


def _default(text: str) -> object:
    if text in ("inf", "-inf"):
        return float(text)
    try:
        return {"True": True, "False": False, "None": None}[text]
    except KeyError:
        pass
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def sample(row: dict, index: int) -> Sample:
    values: dict[str, object] = {}
    dtypes: dict[str, str] = {}
    flags: dict[str, list[str]] = {}
    for arg in row["args"]:
        name = arg["name"]
        seed = f"{row['op']}{index}{name}"
        given = row["samples"][index].get(name, _default(arg["default"]) if arg["default"] else None)
        if is_spec(given):
            dtypes[name], flags[name] = given["dtype"], given["flags"]
            given = array(given, seed)
        elif isinstance(given, dict):
            dtypes[name], flags[name] = given["tensor"]["dtype"], []
            given = array(given["tensor"], seed)
        elif isinstance(given, list) and given and any(is_spec(v) for v in given):
            dtypes[name] = given[0]["dtype"]
            given = [None if v is None else array(v, f"{seed}{k}") for k, v in enumerate(given)]
        elif given in ("inf", "-inf"):
            given = float(given)
        values[name] = given
    return Sample(row, index, values, dtypes, flags)


def all_samples(keep=lambda row: True) -> list[Sample]:
    return [sample(r, i) for r in rows() if keep(r) for i in range(len(r["samples"]))]


def to_tensor(paddle, a: np.ndarray, dtype: str, flags=(), stop_gradient: bool = True):
    """A tensor; with the flag `t` a strided one, whose storage holds it transposed."""
    if "t" in flags and a.ndim > 1:
        t = paddle.to_tensor(np.ascontiguousarray(a.T)).transpose(list(range(a.ndim))[::-1])
    else:
        t = paddle.to_tensor(np.ascontiguousarray(a) if a.ndim else a)
    t = t if str(t.dtype).rsplit(".", maxsplit=1)[-1] == dtype else t.astype(dtype)
    t.stop_gradient = stop_gradient
    return t


def arguments(paddle, s: Sample, floats: str | None = None, needs: set[str] = frozenset()) -> list[object]:
    """The arguments of paddle._C_ops.<op>. floats: the dtype that floating-point tensors get instead of their own."""
    out = []
    for arg in s.row["args"]:
        name, value = arg["name"], s.values[arg["name"]]

        def convert(a, name=name):
            dtype = s.dtypes[name]
            if floats and dtype in FLOATS:
                dtype, a = floats, a.astype(floats if floats != "bfloat16" else "float32")
            return to_tensor(paddle, a, dtype, s.flags.get(name, ()), name not in needs)

        if isinstance(value, np.ndarray):
            value = convert(value)
        elif isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            value = [convert(v) for v in value]
        out.append(value)
    return out


def outputs(row: dict, result: object) -> list[object]:
    """The operator's results as a flat list of tensors, without absent ones."""
    result = list(result) if isinstance(result, (list, tuple)) else [result]
    flat: list[object] = []
    for r in result:
        flat.extend(r if isinstance(r, (list, tuple)) else [r])
    return [r for r in flat if r is not None]
