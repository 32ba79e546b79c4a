"""Reading pickles without running them: only arrays, numbers, strings and containers come out.

The pure-Python unpickler is used since every opcode that calls or fills an object can be checked there. Arrays are a
few opcodes each whatever their size, so nothing is lost by it.
"""

from __future__ import annotations

import collections
import io
import math
import pickle
import re

import numpy as np

from ..base import core


class LoadError(ValueError, pickle.UnpicklingError):
    """A file is damaged, or holds something that is never loaded. The message says what, and at which byte."""


_SCALAR_DTYPE = re.compile(r"[<>|=]?(\?|[biufcSUVmM]\d{1,9}|b1|O8?|V\d+)")
# Numbering of element types in files by official paddle (phi::DataType).
_DATA_TYPES = {
    1: "bool", 2: "uint8", 3: "int8", 5: "int16", 6: "uint32", 7: "int32", 8: "uint64", 9: "int64", 10: "float32",
    11: "float64", 12: "complex64", 13: "complex128", 15: "float16", 16: "bfloat16", 17: "float8_e4m3fn",
    18: "float8_e5m2",
}  # fmt: skip


def _array(kind, shape, code):
    if kind is not np.ndarray:
        raise LoadError("an array of a class other than numpy.ndarray")
    return np.ndarray((0,), np.int8)


def _dtype(name, align=False, copy=True):
    if not isinstance(name, str) or not _SCALAR_DTYPE.fullmatch(name):
        raise LoadError(f"the element type {str(name)[:40]!r}")
    return np.dtype(name, False, True)


def _scalar(dtype, data=None):
    if not isinstance(dtype, np.dtype) or dtype.hasobject or not isinstance(data, (bytes, str)):
        raise LoadError("a NumPy scalar of an unknown form")
    data = data.encode("latin1") if isinstance(data, str) else data
    if len(data) != dtype.itemsize:
        raise LoadError(f"a NumPy scalar of {len(data)} bytes, expected {dtype.itemsize}")
    return np.frombuffer(data, dtype)[0]


def _frombuffer(buffer, dtype, shape, order):
    if not isinstance(dtype, np.dtype) or dtype.hasobject or order not in ("C", "F"):
        raise LoadError("an array of an unknown form")
    return np.frombuffer(buffer, dtype).reshape(shape, order=order).copy(order)


def _named_data(name, scope):
    """Files hold ``eval('data', {'data': array})`` for a bare tensor. Nothing is evaluated: the form is recognised."""
    if name != "data" or not isinstance(scope, dict) or list(scope) != ["data"]:
        raise LoadError("a call of eval")
    return scope["data"]


def _encode(text, encoding="latin1"):
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1", "utf-8"):
        raise LoadError("an unknown encoding of bytes")
    return text.encode(encoding)


def _data_type(number):
    name = _DATA_TYPES.get(number)
    if name is None:
        raise LoadError(f"the element type number {number}")
    return core.dtype_objects[name]


class _PendingDtype:
    """An element type between its creation and the state that says which."""


def _plain_bytearray(*args):
    if any(isinstance(a, int) for a in args):
        raise LoadError("a bytearray made from a size")
    return bytearray(*args)


def _empty_bytes(*args):
    if args:
        raise LoadError("bytes made by a call")
    return b""


_BUILTINS = {
    "tuple": tuple, "list": list, "dict": dict, "set": set, "frozenset": frozenset, "complex": complex, "slice": slice,
    "bytearray": _plain_bytearray, "bytes": _empty_bytes, "eval": _named_data,
}  # fmt: skip
_NUMPY_SCALARS = ("bool", "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                  "float32", "float64", "complex64", "complex128")  # fmt: skip
ALLOWED = {("builtins", k): v for k, v in _BUILTINS.items()}
ALLOWED.update({("__builtin__", k): v for k, v in _BUILTINS.items()})
ALLOWED.update(
    {
        ("collections", "OrderedDict"): collections.OrderedDict,
        ("collections", "defaultdict"): collections.defaultdict,
        ("collections", "Counter"): collections.Counter,
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): _dtype,
        ("_codecs", "encode"): _encode,
        ("paddle.base.libpaddle", "DataType"): _data_type,
        ("paddle", "dtype"): _data_type,
    }
)
for _package in ("numpy.core", "numpy._core"):
    ALLOWED[_package + ".multiarray", "_reconstruct"] = _array
    ALLOWED[_package + ".multiarray", "scalar"] = _scalar
    ALLOWED[_package + ".numeric", "_frombuffer"] = _frombuffer


class _Bounded:
    """Reads of a seekable file; one that asks for more than there is fails before it costs memory."""

    def __init__(self, file):
        self._file = file
        self.readline = file.readline
        start = file.tell()
        self._end = file.seek(0, io.SEEK_END)
        file.seek(start)

    def read(self, n):
        data = self._file.read(n) if n < 1 << 16 or n <= self._left() else b""
        if len(data) < n:
            left = self._left() + len(data)
            raise LoadError(f"a part of {n} bytes where {left} are left: the file is cut off or damaged")
        return data

    def _left(self):
        return self._end - self._file.tell()


class RestrictedUnpickler(pickle._Unpickler):
    """Unpickles from a seekable binary file object; see the module's text for what comes out."""

    dispatch = dict(pickle._Unpickler.dispatch)

    def __init__(self, file, where="<file>"):
        super().__init__(_Bounded(file), encoding="latin1")
        self._file, self._where = file, where

    def find_class(self, module, name):
        found = ALLOWED.get((module, name))
        if found is None and module == "numpy" and name in _NUMPY_SCALARS:
            return getattr(np, name)
        if found is None:
            raise LoadError(f"the global {str(module)[:80]}.{str(name)[:80]}, which is not plain data")
        return found

    def persistent_load(self, pid):
        raise LoadError("a persistent reference")

    def load_reduce(self):
        arguments = self.stack.pop()
        function = self.stack[-1]
        if not isinstance(arguments, tuple) or not callable(function) or isinstance(function, np.ndarray):
            raise LoadError("a call that is not one of plain data")
        self.stack[-1] = function(*arguments)

    def load_build(self):
        state = self.stack.pop()
        target = self.stack[-1]
        if isinstance(target, np.dtype):
            _fill_dtype(target, state)
        elif type(target) is np.ndarray:
            _fill_array(target, state)
        elif type(target) is _PendingDtype:
            self._resolve(target, _data_type(state))
        else:
            raise LoadError(f"state for an object of class {type(target).__name__}")

    def _resolve(self, pending, value):
        """Puts ``value`` where ``pending`` stands: on the stack, and in the memo for later references."""
        self.stack[-1] = value
        for key, known in self.memo.items():
            if known is pending:
                self.memo[key] = value

    def load_newobj(self):
        arguments = self.stack.pop()
        kind = self.stack.pop()
        if kind is _data_type:
            self.append(_PendingDtype(*arguments))
            return
        if kind not in (collections.OrderedDict, dict, list, set) or arguments:
            raise LoadError("an object that is not plain data")
        self.append(kind())

    def load_bytearray8(self):
        self.append(bytearray(self.read(int.from_bytes(self.read(8), "little"))))

    def _refuse(self):
        raise LoadError("an opcode that plain data doesn't need")

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.BUILD[0]] = load_build
    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.BYTEARRAY8[0]] = load_bytearray8
    for _code in (pickle.NEWOBJ_EX, pickle.INST, pickle.OBJ, pickle.EXT1, pickle.EXT2, pickle.EXT4, pickle.NEXT_BUFFER):
        dispatch[_code[0]] = _refuse

    def load(self):
        """The object.

        Raises:
            LoadError: with the file's name, the byte reached, and what is wrong there.
        """
        try:
            return super().load()
        except LoadError as error:
            raise LoadError(f"[load] {self._where}: near byte {self._position()}: refused {error}") from None
        except (MemoryError, RecursionError) as error:
            raise LoadError(f"[load] {self._where}: near byte {self._position()}: {type(error).__name__}") from None
        except Exception as error:  # noqa: BLE001 - a damaged stream can fail anywhere in the machine
            what = str(error) or type(error).__name__
            raise LoadError(f"[load] {self._where}: near byte {self._position()}: damaged file: {what}") from error

    def _position(self):
        try:
            return self._file.tell()
        except (OSError, ValueError, AttributeError, io.UnsupportedOperation):
            return "?"


def _fill_dtype(target, state):
    if not isinstance(state, tuple) or len(state) < 8 or state[1] not in ("<", ">", "|", "="):
        raise LoadError("an element type of an unknown form")
    if any(part is not None for part in state[2:5]):
        raise LoadError("a structured element type")
    if state[1] == ">" and target.itemsize > 1:
        target.__setstate__((3, ">", None, None, None, -1, -1, 0))


def _fill_array(target, state):
    if not isinstance(state, tuple) or len(state) != 5:
        raise LoadError("an array of an unknown form")
    _, shape, dtype, fortran, data = state
    if not isinstance(dtype, np.dtype) or not isinstance(shape, tuple):
        raise LoadError("an array of an unknown form")
    if not all(type(n) is int and n >= 0 for n in shape):
        raise LoadError(f"an array of shape {shape}")
    count = math.prod(shape)
    if dtype.hasobject:
        if not isinstance(data, list) or len(data) != count:
            raise LoadError("an array of objects of an unknown form")
    else:
        data = data.encode("latin1") if isinstance(data, str) else data
        if not isinstance(data, (bytes, bytearray)) or len(data) != count * dtype.itemsize:
            size = len(data) if isinstance(data, (bytes, bytearray)) else 0
            raise LoadError(f"an array of shape {shape} {dtype} with {size} bytes, expected {count * dtype.itemsize}")
    target.__setstate__((1, shape, dtype, bool(fortran), data))
