"""Kinds of arguments: how a record spells them, and what they are in C++ and in Python."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """text: in a record. enum: ArgKind. param: C++ parameter. field: member of Args. get: from an Arg $. py: stub."""

    text: str
    enum: str
    param: str
    field: str
    get: str
    py: str
    tensor: bool = False
    is_list: bool = False
    optional: bool = False


def _k(text, enum, param, field, get, py, **flags) -> Kind:
    return Kind(text, enum, param, field, get, py, **flags)


_T = "const Tensor&"
_SPAN = "std::span<const {}>"
KINDS: dict[str, Kind] = {
    k.text: k
    for k in (
        _k("Tensor", "kTensor", _T, _T, "$.tensor()", "Tensor", tensor=True),
        _k("Tensor?", "kOptTensor", _T, _T, "$.tensor()", "Tensor | None", tensor=True, optional=True),
        _k("Tensor[]", "kTensors", _SPAN.format("Tensor"), _SPAN.format("Tensor"), "$.tensors()", "Sequence[Tensor]",
           tensor=True, is_list=True),
        _k("Tensor?[]", "kOptTensors", _SPAN.format("Tensor"), _SPAN.format("Tensor"), "$.tensors()",
           "Sequence[Tensor | None]", tensor=True, is_list=True, optional=True),
        _k("Scalar", "kScalar", "const Scalar&", "const Scalar&", "scalar_of($)", "float | Tensor"),
        _k("Ints", "kInts", "const Ints&", "const Ints&", "ints_of($)", "int | Sequence[int | Tensor] | Tensor"),
        _k("int", "kInt", "int64_t", "int64_t", "$.i()", "int"),
        _k("float", "kFloat", "double", "double", "$.d()", "float"),
        _k("bool", "kBool", "bool", "bool", "$.b()", "bool"),
        _k("str", "kString", "std::string_view", "std::string_view", "$.str()", "str"),
        _k("dtype", "kDType", "DType", "DType", "$.dtype()", "DTypeLike"),
        _k("place", "kPlace", "std::optional<Place>", "std::optional<Place>", "opt_place($)", "PlaceLike"),
        _k("int[]", "kIntList", "IntList", _SPAN.format("int64_t"), "$.int_list()", "Sequence[int]", is_list=True),
        _k("float[]", "kFloatList", "FloatList", _SPAN.format("double"), "$.float_list()", "Sequence[float]",
           is_list=True),
        _k("bool[]", "kBoolList", _SPAN.format("bool"), _SPAN.format("bool"), "$.bool_list()", "Sequence[bool]",
           is_list=True),
        _k("str[]", "kStringList", _SPAN.format("std::string"), _SPAN.format("std::string"), "$.string_list()",
           "Sequence[str]", is_list=True),
        _k("Scalar[]", "kScalarList", _SPAN.format("Scalar"), _SPAN.format("Scalar"), "$.scalar_list()",
           "Sequence[float]", is_list=True),
        _k("int?", "kOptInt", "std::optional<int64_t>", "std::optional<int64_t>", "opt_int($)", "int | None",
           optional=True),
        _k("float?", "kOptFloat", "std::optional<double>", "std::optional<double>", "opt_float($)", "float | None",
           optional=True),
        _k("bool?", "kOptBool", "std::optional<bool>", "std::optional<bool>", "opt_bool($)", "bool | None",
           optional=True),
        _k("dtype?", "kOptDType", "std::optional<DType>", "std::optional<DType>", "opt_dtype($)", "DTypeLike | None",
           optional=True),
    )
}  # fmt: skip

# Attributes that may stand as parameters of a scalar expression.
NUMBERS = {"Scalar", "int", "float", "bool"}

# Attributes that come in two widths in pd_op.
WIDE = {"int", "int[]", "int?", "float", "float[]", "float?", "Ints"}

DTYPES = {
    "bool": "kBool", "uint8": "kUInt8", "int8": "kInt8", "int16": "kInt16", "int32": "kInt32", "int64": "kInt64",
    "uint32": "kUInt32", "uint64": "kUInt64", "float16": "kFloat16", "bfloat16": "kBFloat16", "float32": "kFloat32",
    "float64": "kFloat64", "complex64": "kComplex64", "complex128": "kComplex128",
    "float8_e4m3fn": "kFloat8E4M3FN", "float8_e5m2": "kFloat8E5M2",
}  # fmt: skip

# Named sets of dtypes, as in `dtype: x: float|int`.
DTYPE_SETS = {
    "float": ("float16", "bfloat16", "float32", "float64"),
    "float8": ("float8_e4m3fn", "float8_e5m2"),
    "int": ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64"),
    "index": ("int32", "int64"),
    "complex": ("complex64", "complex128"),
}
DTYPE_SETS["real"] = DTYPE_SETS["float"] + DTYPE_SETS["int"]
DTYPE_SETS["inexact"] = DTYPE_SETS["float"] + DTYPE_SETS["complex"]
DTYPE_SETS["number"] = DTYPE_SETS["real"] + DTYPE_SETS["complex"]
DTYPE_SETS["any"] = (*DTYPE_SETS["number"], "bool")
DTYPE_SETS["stored"] = DTYPE_SETS["any"] + DTYPE_SETS["float8"]  # also the types that can only be cast and moved

_CPP_WORDS = {"default", "register", "union", "namespace", "new", "delete", "template", "operator", "export", "auto",
              "std", "signed", "unsigned", "and", "or", "not", "xor"}  # fmt: skip
IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")


def cpp_name(name: str) -> str:
    """A record's name as a C++ identifier."""
    return name + "_" if name in _CPP_WORDS else name
