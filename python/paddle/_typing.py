"""Names for the types that annotations and stubs use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from paddle._core import Tensor
    from paddle.base.core import CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, DType, XPUPlace
    from paddle.nn._param_attr import ParamAttr
    from paddle.nn.initializer import Initializer
    from paddle.regularizer import WeightDecayRegularizer

_T = TypeVar("_T")

Numeric = Union[int, float, bool, complex, np.number, "Tensor"]
NumericSequence = Sequence[Numeric]
NestedSequence = Union[_T, Sequence["NestedSequence[_T]"]]
NestedList = Union[_T, list["NestedList[_T]"]]
NestedStructure = Union[_T, Mapping[str, "NestedStructure[_T]"], Sequence["NestedStructure[_T]"]]
NestedNumericSequence = NestedSequence[Numeric]
TensorLike = Union[npt.NDArray[Any], "Tensor", Numeric]
TensorOrTensors = Union["Tensor", Sequence["Tensor"]]
_Index = Union[int, bool, slice, EllipsisType, None, "Tensor", npt.NDArray[Any], list[Any]]
TensorIndex = Union[_Index, tuple[_Index, ...]]
ShapeLike = Union[Sequence[Union[int, "Tensor", None]], "Tensor"]
DTypeLike = Union["DType", np.dtype, type, str]
PlaceLike = Union["CPUPlace", "CUDAPlace", "CUDAPinnedPlace", "XPUPlace", "CustomPlace", str]
ParamAttrLike = Union["ParamAttr", "Initializer", "WeightDecayRegularizer", str, bool]

Size1 = Union[int, tuple[int], list[int]]
Size2 = Union[int, tuple[int, int], list[int]]
Size3 = Union[int, tuple[int, int, int], list[int]]
Size4 = Union[int, tuple[int, int, int, int], list[int]]
Size5 = Union[int, tuple[int, int, int, int, int], list[int]]
Size6 = Union[int, tuple[int, int, int, int, int, int], list[int]]
SizeN = Union[int, tuple[int, ...], list[int]]

DataLayout0D = Literal["NC"]
DataLayout1D = Literal["NCL", "NLC"]
DataLayout1DVariant = Literal["NCW", "NWC"]
DataLayout2D = Literal["NCHW", "NHWC"]
DataLayout3D = Literal["NCDHW", "NDHWC"]
DataLayoutImage = Literal["HWC", "CHW"]
DataLayoutND = Union[DataLayout0D, DataLayout1D, DataLayout2D, DataLayout3D]
