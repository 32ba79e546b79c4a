"""Layer: the base class of networks."""

from __future__ import annotations

import re
from collections import OrderedDict

import paddle
from paddle import Tensor

from ...base import unique_name
from ...base.framework import EagerParamBase
from .._alias import accepts
from .._create import create_named_parameter
from ._convert import ConvertMixin
from ._hooks import HookRemoveHelper, call_with_hooks
from ._state import StateMixin
from ._tree import TreeMixin

__all__ = ["Layer"]

while_traced = None  # what runs instead of Layer.__call__ while something is traced (jit/layer_calls.py)


def _scope_name(class_name):
    """``BatchNorm2D`` -> ``batch_norm2d``: the stem of a layer's unique name."""
    spaced = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", class_name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", spaced).lower()


class Layer(TreeMixin, StateMixin, ConvertMixin):
    """Base class of network layers: a tree of sublayers, parameters and buffers with a `forward`.

    Assigning a `Parameter` or another Layer to an attribute registers it. Calling the layer runs its forward pre-hooks,
    `forward` and its post-hooks.

    Args:
        name_scope (str, optional): stem of the unique name; the class name in snake case when None.
        dtype (dtype): data type of parameters made without one.
    """

    def __init__(self, name_scope=None, dtype="float32"):
        self.training = True
        if name_scope is None:
            name_scope = _scope_name(type(self).__name__)
        self._full_name = unique_name.generate(name_scope)
        self._built = False
        self._dtype = dtype
        self._parameters = OrderedDict()
        self._buffers = OrderedDict()
        self._non_persistable_buffer_names_set = set()
        self._sub_layers = OrderedDict()
        self._customized_attrs = {}
        self._forward_pre_hooks = OrderedDict()
        self._forward_post_hooks = OrderedDict()
        self._forward_pre_hooks_with_kwargs_flag = OrderedDict()
        self._forward_post_hooks_with_kwargs_flag = OrderedDict()
        self._forward_post_hooks_always_called = OrderedDict()
        self._state_dict_hooks = OrderedDict()

    # ---- calling

    def __call__(self, *inputs, **kwargs):
        traced = while_traced
        if traced is not None:
            return traced(self, inputs, kwargs)
        if self._forward_pre_hooks or self._forward_post_hooks:
            return call_with_hooks(self, inputs, kwargs)
        return self.forward(*inputs, **kwargs)

    def _call_untraced(self, inputs, kwargs):
        if self._forward_pre_hooks or self._forward_post_hooks:
            return call_with_hooks(self, inputs, kwargs)
        return self.forward(*inputs, **kwargs)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        # Only classes that build at their first call pay for asking whether they have.
        if "_build_once" in cls.__dict__ and cls.__call__ is Layer.__call__:
            cls.__call__ = Layer._dygraph_call_func

    def _dygraph_call_func(self, *inputs, **kwargs):
        if not self._built:
            self._build_once(*inputs, **kwargs)
            self._built = True
        return call_with_hooks(self, inputs, kwargs)

    def _build_once(self, *args, **kwargs):
        """Runs before the first call, for layers whose parameters depend on their input."""

    def forward(self, *inputs, **kwargs):
        """What the layer computes; subclasses must define it."""
        raise NotImplementedError

    def backward(self, *inputs):
        """Not for a Layer: gradients come from `Tensor.backward`."""
        raise ValueError("Layer shouldn't implement backward")

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Calls ``hook(layer, inputs)`` before `forward`; a value that is not None replaces the inputs.

        Args:
            hook (callable): with `with_kwargs`, ``hook(layer, inputs, kwargs)`` returning None or (inputs, kwargs).
            prepend (bool): run before the hooks that are already there.
            with_kwargs (bool): see `hook`.

        Returns:
            HookRemoveHelper.
        """
        handle = HookRemoveHelper(self._forward_pre_hooks, extra_hook_dict=[self._forward_pre_hooks_with_kwargs_flag])
        self._forward_pre_hooks[handle._hook_id] = hook
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs_flag[handle._hook_id] = True
        if prepend:
            self._forward_pre_hooks.move_to_end(handle._hook_id, last=False)
        return handle

    def register_forward_post_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Calls ``hook(layer, inputs, output)`` after `forward`; a value that is not None replaces the output.

        Args:
            hook (callable): with `with_kwargs`, ``hook(layer, inputs, kwargs, output)``.
            prepend (bool): run before the hooks that are already there.
            with_kwargs (bool): see `hook`.
            always_call (bool): run it (with output None) also when the forward pass raises.

        Returns:
            HookRemoveHelper.
        """
        handle = HookRemoveHelper(
            self._forward_post_hooks,
            extra_hook_dict=[self._forward_post_hooks_with_kwargs_flag, self._forward_post_hooks_always_called],
        )
        self._forward_post_hooks[handle._hook_id] = hook
        if with_kwargs:
            self._forward_post_hooks_with_kwargs_flag[handle._hook_id] = True
        if always_call:
            self._forward_post_hooks_always_called[handle._hook_id] = True
        if prepend:
            self._forward_post_hooks.move_to_end(handle._hook_id, last=False)
        return handle

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Same as `register_forward_post_hook`."""
        return self.register_forward_post_hook(hook, prepend=prepend, with_kwargs=with_kwargs, always_call=always_call)

    # ---- making and registering

    def create_parameter(self, shape, attr=None, dtype=None, is_bias=False, default_initializer=None, device=None):
        """Makes a parameter named after this layer. It is registered when it is assigned to an attribute.

        Args:
            shape (Sequence[int]): its sizes.
            attr (ParamAttr | str | Initializer | bool, optional): False makes none.
            dtype (dtype, optional): the default dtype when None.
            is_bias (bool): starts from zeros, and is named ``.b_``.
            default_initializer (Initializer, optional): unless `attr` brings one; Xavier-uniform for weights.
            device (place | str, optional): where it lives.

        Returns:
            EagerParamBase, or None.
        """
        if isinstance(attr, str) and attr == "":
            attr = None
        dtype = paddle.get_default_dtype() if dtype is None else dtype
        param = create_named_parameter(self._full_name, shape, attr, dtype, is_bias, default_initializer)
        if device is not None and param is not None:
            param.data = param.detach().to(device)
        return param

    def create_variable(self, name=None, persistable=None, dtype=None):
        """Makes an empty tensor named after this layer (for state that no gradient reaches)."""
        if name is not None:
            name = ".".join([self._full_name, name])
        else:
            name = unique_name.generate(".".join([self._full_name, "_generated_var"]))
        tensor = paddle.zeros([0], self._dtype if dtype is None else dtype)
        tensor.name = name
        if persistable is not None:
            tensor.persistable = persistable
        return tensor

    def create_tensor(self, name=None, persistable=None, dtype=None):
        """Same as `create_variable`."""
        return self.create_variable(name, persistable, dtype)

    def add_parameter(self, name, parameter):
        """Registers `parameter` (or None) as attribute `name` and returns it.

        Raises:
            RuntimeError: ``super().__init__()`` has not run.
            TypeError: `name` is no str, or `parameter` no Parameter.
            KeyError: `name` is empty, holds a dot, or is taken.
        """
        if "_parameters" not in self.__dict__:
            raise RuntimeError("super().__init__() should be called firstly.")
        self._check_name(name, "parameter", self._parameters)
        if parameter is not None and not isinstance(parameter, EagerParamBase):
            raise TypeError(
                f"The parameter to be added should be a Parameter, but received {type(parameter).__name__}."
            )
        self._parameters[name] = parameter
        return parameter

    def register_parameter(self, name, param):
        """Same as `add_parameter`."""
        self.add_parameter(name, param)

    def add_sublayer(self, name, sublayer):
        """Registers `sublayer` (Layer or None) under `name` and returns it."""
        if sublayer is not None and not isinstance(sublayer, Layer):
            raise AssertionError(f"[Layer] a sublayer must be a Layer or None, got {type(sublayer).__name__}")
        self._sub_layers[str(name)] = sublayer
        return sublayer

    def add_module(self, name, module):
        """Same as `add_sublayer`, without a result."""
        self.add_sublayer(name, module)

    def register_module(self, name, module):
        """Same as `add_module`."""
        self.add_sublayer(name, module)

    @accepts(persistable="persistent")
    def register_buffer(self, name, tensor, persistable=True):
        """Registers a tensor (or None) that is state but no parameter.

        Args:
            name (str): the attribute.
            tensor (Tensor | None): the value.
            persistable (bool): whether `state_dict` holds it.

        Raises:
            ValueError: ``super().__init__()`` has not run.
            TypeError: `name` is no str, or `tensor` no Tensor.
            KeyError: `name` is empty, holds a dot, or is taken.
        """
        if "_buffers" not in self.__dict__:
            raise ValueError("super().__init__() should be called first")
        self._check_name(name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"The registered buffer should be a Paddle.Tensor, but received {type(tensor).__name__}.")
        self._buffers[name] = tensor
        if persistable:
            self._non_persistable_buffer_names_set.discard(name)
        else:
            self._non_persistable_buffer_names_set.add(name)

    def _check_name(self, name, kind, table):
        if not isinstance(name, str):
            raise TypeError(f"The name of {kind} should be a string, but received {type(name).__name__}.")
        if "." in name:
            raise KeyError(
                f"The name of {kind} can not contain `.`, because when you access the newly added {kind} in the form "
                "of `self.**.**`, it will cause AttributeError."
            )
        if name == "":
            raise KeyError(f"The name of {kind} can not be empty.")
        if hasattr(self, name) and name not in table:
            raise KeyError(f"attribute '{name}' already exists.")

    # ---- attributes

    def __getattr__(self, name):
        # Reached only when ordinary lookup fails.
        own = self.__dict__
        for table in ("_parameters", "_sub_layers", "_buffers"):
            entries = own.get(table)
            if entries is not None and name in entries:
                return entries[name]
        return object.__getattribute__(self, name)

    def __setattr__(self, name, value):
        own = self.__dict__
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        elif isinstance(value, EagerParamBase):
            self._claim(name, "_parameters", value)
        elif isinstance(value, Layer):
            self._claim(name, "_sub_layers", value)
        elif name in own.get("_parameters", ()):
            self._replace(own["_parameters"], name, value, "parameter", "Parameter")
        elif name in own.get("_sub_layers", ()):
            self._replace(own["_sub_layers"], name, value, "sublayer", "Layer")
        elif name in own.get("_buffers", ()):
            if isinstance(value, Tensor):
                own["_buffers"][name] = value
            else:
                self._replace(own["_buffers"], name, value, "buffers", "core.DenseTensor")
        elif isinstance(value, Tensor) and "_buffers" in own:
            # Tensors are state: they follow the layer's dtype and place, but only ``register_buffer`` makes them last.
            self._claim(name, "_buffers", value)
            self._non_persistable_buffer_names_set.add(name)
        else:
            object.__setattr__(self, name, value)

    def _claim(self, name, table, value):
        """Puts `value` into `table`, and takes `name` out of wherever it stood before."""
        own = self.__dict__
        if table not in own:
            raise ValueError("super().__init__() should be called first")
        own.pop(name, None)
        for other in ("_parameters", "_sub_layers", "_buffers"):
            if other != table and other in own:
                own[other].pop(name, None)
        own[table][name] = value

    @staticmethod
    def _replace(table, name, value, kind, wanted):
        if value is not None:
            raise TypeError(
                f"assignment to {kind} '{name}' should be of type {wanted} or None, but got '{type(value).__name__}'"
            )
        table[name] = None

    def __delattr__(self, name):
        for table in (self._parameters, self._sub_layers, self._buffers):
            if name in table:
                del table[name]
                self._non_persistable_buffer_names_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        return [*object.__dir__(self), *self._parameters, *self._sub_layers, *self._buffers]

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, state):
        self.__dict__.update(state)

    # ---- printing

    def _get_name(self):
        return type(self).__name__

    def full_name(self):
        """The unique name (str), such as ``linear_0``: the stem of the names of its parameters."""
        return self._full_name

    def extra_repr(self):
        """What stands between the brackets of ``repr``; a str that subclasses override."""
        return ""

    def __repr__(self):
        inner = self.extra_repr().split("\n")
        children = [f"({name}): " + repr(layer).replace("\n", "\n  ") for name, layer in self._sub_layers.items()]
        text = self._get_name() + "("
        text += inner[0] if len(inner) == 1 else "\n  " + "\n  ".join(inner) + "\n"
        if children:
            text += "\n  " + "\n  ".join(children) + "\n"
        return text + ")"
