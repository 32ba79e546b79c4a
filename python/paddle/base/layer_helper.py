"""Making parameters and outputs for functions that add operators by name."""

from __future__ import annotations

from ..nn._create import create_named_parameter
from ..nn._param_attr import ParamAttr
from . import unique_name

__all__ = ["LayerHelper"]


class LayerHelper:
    """Holds a function's arguments and makes its parameters.

    Args:
        layer_type: the operator's name; parameters are called ``<layer_type>_<i>.w_0``.
        kwargs: the function's arguments, ``param_attr`` and ``bias_attr`` among them.
    """

    def __init__(self, layer_type: str, **kwargs) -> None:
        self.layer_type, self.kwargs = layer_type, kwargs
        self.name = kwargs.get("name") or unique_name.generate(layer_type)
        self.kwargs["name"] = self.name

    @property
    def param_attr(self):
        return ParamAttr._to_attr(self.kwargs.get("param_attr"))

    @property
    def bias_attr(self):
        return ParamAttr._to_attr(self.kwargs.get("bias_attr"))

    def multiple_input(self, input_param_name: str = "input") -> list:
        """The argument of that name as a list."""
        value = self.kwargs.get(input_param_name, [])
        return list(value) if isinstance(value, (list, tuple)) else [value]

    def input(self, input_param_name: str = "input"):
        """The one tensor of that name.

        Raises:
            ValueError: there are several.
        """
        values = self.multiple_input(input_param_name)
        if len(values) != 1:
            raise ValueError(f"{self.layer_type} layer only takes one input in")
        return values[0]

    def input_dtype(self, input_param_name: str = "input"):
        """The dtype that all tensors of that name have.

        Raises:
            ValueError: they differ.
        """
        dtypes = [t.dtype for t in self.multiple_input(input_param_name)]
        for dtype in dtypes[1:]:
            if dtype != dtypes[0]:
                raise ValueError(f"Data Type mismatch: {dtypes[0]} to {dtype}")
        return dtypes[0] if dtypes else None

    def create_parameter(
        self,
        attr,
        shape,
        dtype=None,
        is_bias=False,
        default_initializer=None,
        stop_gradient=False,
        type=None,
    ):
        """A parameter named after this helper."""
        parameter = create_named_parameter(self.name, shape, attr, dtype, is_bias, default_initializer)
        if parameter is not None and stop_gradient:
            parameter.stop_gradient = True
        return parameter

    def create_variable_for_type_inference(self, dtype, stop_gradient=False, shape=None):
        """An empty tensor to be filled by an operator."""
        import paddle

        tensor = paddle.empty([0] if shape is None else shape, dtype=dtype)
        tensor.stop_gradient = stop_gradient
        return tensor

    def append_op(self, *args, **kwargs):
        """Not available: call the operator itself (``paddle._C_ops.<name>``), which works in every mode."""
        name = kwargs.get("type", args[0] if args else "?")
        raise NotImplementedError(f"LayerHelper.append_op({name!r}): call paddle._C_ops.{name} instead")
