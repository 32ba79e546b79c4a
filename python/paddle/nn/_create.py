"""How parameters are made."""

from __future__ import annotations

import copy

from ..base import state, unique_name
from ..base.framework import sizes_of_parameter
from ..framework.dtype import get_default_dtype
from ._param_attr import ParamAttr
from .initializer.initializer import choose_initializer

__all__ = []


def create_named_parameter(scope, shape, attr=None, dtype=None, is_bias=False, default_initializer=None):
    """Makes the parameter that a layer (or function) called `scope` asks for.

    Args:
        scope (str): the unique name of the asker, such as ``linear_0``; the parameter becomes ``linear_0.w_0``.
        shape (Sequence[int]): its sizes.
        attr (ParamAttr | str | Initializer | bool | None): see `ParamAttr`; False asks for no parameter.
        dtype (dtype, optional): the default dtype when None.
        is_bias (bool): chooses the default initializer and the letter in the name.
        default_initializer (Initializer, optional): used when `attr` brings none and no global one is set.

    Returns:
        EagerParamBase, or None when `attr` is False.
    """
    attr = ParamAttr._to_attr(attr)
    if not attr:
        return None
    attr = copy.copy(attr)
    attr.initializer = choose_initializer(attr, is_bias, default_initializer)
    if attr.name is None:
        attr.name = unique_name.generate(scope + (".b" if is_bias else ".w"))
    unique_name.dygraph_parameter_name_checker.add(attr.name)
    return state.maker.parameter(
        attr.initializer,
        sizes_of_parameter(shape),
        get_default_dtype() if dtype is None else dtype,
        attr._to_kwargs(),
    )


def create_parameter(shape, dtype, name=None, attr=None, is_bias=False, default_initializer=None):
    """Makes a free-standing parameter (``paddle.create_parameter``).

    Args:
        shape (Sequence[int] | Tensor): its sizes.
        dtype (dtype): its data type.
        name (str, optional): its name; ``create_parameter_<i>.w_0`` when None.
        attr (ParamAttr, optional): further attributes.
        is_bias (bool): starts from zeros rather than Xavier-uniform values when no initializer is given.
        default_initializer (Initializer, optional): how it is filled unless `attr` says otherwise.

    Returns:
        EagerParamBase of shape `shape`.
    """
    attr = ParamAttr._to_attr(attr)
    if attr and attr.name is None and name:
        attr = copy.copy(attr)
        attr.name = name
    scope = unique_name.generate("create_parameter")
    return create_named_parameter(scope, shape, attr, dtype, is_bias, default_initializer)
