"""Every record's samples against NumPy: the scalar expression's own reference, or tests/op/references.py."""

import numpy as np
import pytest
from references import REFERENCES
from samples import all_samples, arguments, by_name, outputs

paddle = pytest.importorskip("paddle")

try:
    import scipy.special as sp
except ImportError:
    sp = None

TOLERANCE = {
    "float16": 2e-3,
    "bfloat16": 1.6e-2,
    "float32": 3e-6,
    "float64": 1e-12,
    "complex64": 3e-6,
    "complex128": 1e-12,
}


def wide(v):
    """Computed in double precision: the reference must be more accurate than what it judges."""
    if isinstance(v, np.ndarray) and v.dtype.kind == "f":
        return v.astype(np.float64)
    if isinstance(v, np.ndarray) and v.dtype.kind == "c":
        return v.astype(np.complex128)
    return [wide(i) for i in v] if isinstance(v, list) else v


def reference(sample):
    row = sample.row
    if row["op"] in REFERENCES:
        result = REFERENCES[row["op"]](**{k: wide(v) for k, v in sample.values.items()})
    elif row["numpy"]:
        if "sp." in row["numpy"] and sp is None:
            pytest.skip("needs scipy")
        space = {"np": np, "sp": sp}
        exec(row["numpy"], space)  # noqa: S102 (generated from the record)
        with np.errstate(all="ignore"):
            result = space["reference"](*(wide(sample.values[n]) for n in row["numpy_args"]))
    else:
        return None
    return list(result) if isinstance(result, (list, tuple)) else [result]


def as_numpy(t):
    return np.asarray(t.astype("float32").numpy() if str(t.dtype).endswith("bfloat16") else t.numpy())


def check(sample, got, want):
    assert len(got) >= len(want)
    for g, w in zip(got, want, strict=False):
        dtype = str(g.dtype).rsplit(".", maxsplit=1)[-1]
        a, w = as_numpy(g), np.asarray(w)
        assert list(a.shape) == list(w.shape), f"shape {a.shape}, expected {w.shape}"
        if dtype == "bool":
            w = w.astype(bool)
        tolerance = TOLERANCE.get(dtype, 0)
        scale = max(1.0, float(np.max(np.abs(w[np.isfinite(w)]), initial=0))) if w.dtype.kind in "fc" else 1
        np.testing.assert_allclose(a.astype(w.dtype), w, rtol=4 * tolerance, atol=tolerance * scale)


def test_every_record_is_checked():
    """Nothing is left out in silence: a reference and samples, or a reason in the record."""
    bare = [r["op"] for r in by_name().values() if "values" not in r["exempt"] and not has_reference(r)]
    assert not bare, f"no reference, and no reason in `exempt`: {bare}"
    unsampled = [r["op"] for r in by_name().values() if "modes" not in r["exempt"] and not r["samples"]]
    assert not unsampled, f"no samples, and no reason in `exempt`: {unsampled}"
    idle = [r["op"] for r in by_name().values() if "values" in r["exempt"] and has_reference(r)]
    assert not idle, f"exempt, but has a reference: {idle}"


def has_reference(row):
    return row["op"] in REFERENCES or bool(row["numpy"])


@pytest.mark.parametrize("sample", all_samples(lambda r: "values" not in r["exempt"]), ids=lambda s: s.id)
def test_value(sample):
    want = reference(sample)
    op = getattr(paddle._C_ops, sample.row["op"])
    check(sample, outputs(sample.row, op(*arguments(paddle, sample))), want)


def differs_in_dtype(sample):
    """The one other dtype that this row is tested in, picked by hash."""
    import zlib

    first = next((n for n in sample.dtypes), None)
    if first is None or sample.dtypes[first] != "float32":
        return None
    others = [d for d in ("float64", "float16", "bfloat16") if d in sample.row["dtypes"].get(first, [])]
    return others[zlib.crc32(sample.row["op"].encode()) % len(others)] if others else None


@pytest.mark.parametrize("sample", all_samples(lambda r: r["numpy"] and r["samples"]), ids=lambda s: s.id)
def test_value_in_another_dtype(sample):
    dtype = differs_in_dtype(sample)
    if dtype is None or sample.index > 0:
        pytest.skip("one sample, where it is float32 and another dtype is accepted")
    args = arguments(paddle, sample, floats=dtype)
    seen = iter(a for a in args if isinstance(a, paddle.Tensor))
    for name, value in sample.values.items():
        if isinstance(value, np.ndarray):
            t = next(seen)
            sample.values[name] = as_numpy(t)
    check(sample, outputs(sample.row, getattr(paddle._C_ops, sample.row["op"])(*args)), reference(sample))


INPLACE = [s for s in all_samples(lambda r: r["inplace"] and not r["random"]) if s.index == 0]


@pytest.mark.parametrize("sample", INPLACE, ids=lambda s: s.id)
def test_in_place_form(sample):
    op, op_ = (getattr(paddle._C_ops, sample.row["op"] + suffix) for suffix in ("", "_"))
    args, again = arguments(paddle, sample), arguments(paddle, sample)
    want = outputs(sample.row, op(*args))[0]
    first = next(i for i, a in enumerate(args) if isinstance(a, paddle.Tensor))
    if want.dtype != args[first].dtype:
        pytest.skip("the result has another dtype")
    result = op_(*again)
    result = result[0] if isinstance(result, (list, tuple)) else result
    assert list(again[first].shape) == list(want.shape)
    np.testing.assert_array_equal(as_numpy(again[first]), as_numpy(want))
    np.testing.assert_array_equal(as_numpy(result), as_numpy(want))


ERRORS = [(r["op"], i) for r in by_name().values() for i in range(len(r["errors"]))]


@pytest.mark.parametrize(("op", "index"), ERRORS)
def test_bad_input(op, index):
    from samples import sample

    row = by_name()[op]
    error = row["errors"][index]
    bad = sample({**row, "samples": [error["args"]]}, 0)
    raises = {"ValueError": ValueError, "TypeError": TypeError, "IndexError": IndexError, "RuntimeError": RuntimeError}
    with pytest.raises(raises[error["raises"]], match=error["match"] or r"\["):
        getattr(paddle._C_ops, op)(*arguments(paddle, bad))
