"""What a Layer saves and loads."""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Mapping

import numpy as np

from ._hooks import HookRemoveHelper


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    __str__ = __repr__


class StateMixin:
    """The state_dict family of `Layer`."""

    def register_state_dict_hook(self, hook):
        """Calls ``hook(state_dict)`` at the end of `state_dict`; a value that is not None replaces the dict.

        Returns:
            HookRemoveHelper, whose ``remove()`` unregisters.
        """
        handle = HookRemoveHelper(self._state_dict_hooks)
        self._state_dict_hooks[handle._hook_id] = hook
        return handle

    def _collect(self, destination, include_sublayers, prefix, all_buffers, use_hook, keep_vars):
        if destination is None:
            destination = OrderedDict()
        for name, value in self._parameters.items():
            if value is not None:
                destination[prefix + name] = value if keep_vars else value.detach()
        transient = self._non_persistable_buffer_names_set
        for name, value in self._buffers.items():
            if value is not None and (all_buffers or name not in transient):
                destination[prefix + name] = value if keep_vars else value.detach()
        if include_sublayers:
            for name, layer in self._sub_layers.items():
                if layer is not None:
                    inner = f"{prefix}{name}."
                    layer._collect(destination, True, inner, all_buffers, use_hook, keep_vars)
        if use_hook:
            for hook in list(self._state_dict_hooks.values()):
                result = hook(destination)
                if result is not None:
                    destination = result
        return destination

    def _state_dict_impl(self, destination=None, include_sublayers=True, structured_name_prefix="",
                         include_non_persistable_buffer=False, use_hook=True, keep_vars=True):  # fmt: skip
        return self._collect(
            destination, include_sublayers, structured_name_prefix, include_non_persistable_buffer, use_hook, keep_vars
        )

    def state_dict(self, *args, **kwargs):
        """Parameters and persistable buffers by structured name (``"0.weight"``).

        Args (by keyword or in this order):
            destination (dict, optional): filled and returned; a new OrderedDict when None.
            include_sublayers (bool): True.
            structured_name_prefix (str): put before every key.
            use_hook (bool): whether state-dict hooks run.
            keep_vars (bool): False gives detached tensors instead of the parameters themselves.

        Returns:
            OrderedDict[str, Tensor].
        """
        return self._state_dict(*args, **kwargs)

    def _state_dict(self, destination=None, include_sublayers=True, structured_name_prefix="", use_hook=True,
                    keep_vars=True):  # fmt: skip
        return self._collect(destination, include_sublayers, structured_name_prefix, False, use_hook, keep_vars)

    def to_static_state_dict(self, destination=None, include_sublayers=True, structured_name_prefix="", use_hook=True,
                             keep_vars=True):  # fmt: skip
        """Like `state_dict`, with the buffers that are not persistable as well: all that a compiled program reads."""
        return self._collect(destination, include_sublayers, structured_name_prefix, True, use_hook, keep_vars)

    def set_state_dict(self, state_dict, use_structured_name=True):
        """Copies the values of `state_dict` into this layer's parameters and buffers.

        Args:
            state_dict (dict[str, Tensor | ndarray]): values by name.
            use_structured_name (bool): False takes the keys as the tensors' own names (``linear_0.w_0``).

        Returns:
            (missing_keys, unexpected_keys), two lists of str. A key whose value has another shape is left out with a
            warning.

        Raises:
            AssertionError: a value has another dtype.
            TypeError: no dict, or a value that is no tensor.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"[set_state_dict] expected state_dict to be a dict, got {type(state_dict).__name__}")
        missing, matched, pairs = [], set(), []
        for key, target in self._collect(None, True, "", False, False, True).items():
            name = key if use_structured_name else target.name
            if name not in state_dict:
                missing.append(name)
                warnings.warn(f"Skip loading for {key}. {name} is not found in the provided dict.")
                continue
            value = state_dict[name]
            if not hasattr(value, "shape"):
                raise TypeError(f"[set_state_dict] expected {name} to be a Tensor, got {type(value).__name__}")
            if list(value.shape) != list(target.shape):
                missing.append(name)
                warnings.warn(
                    f"Skip loading for {key}. {name} receives a shape {list(value.shape)}, "
                    f"but the expected shape is {list(target.shape)}."
                )
                continue
            matched.add(name)
            pairs.append((target, value))
        unexpected = [key for key in state_dict if key not in matched]
        for target, value in pairs:
            _assign(target, value)
        return missing, unexpected

    def set_dict(self, state_dict, use_structured_name=True):
        """Same as `set_state_dict`."""
        return self.set_state_dict(state_dict, use_structured_name)

    def load_dict(self, state_dict, use_structured_name=True):
        """Same as `set_state_dict`."""
        return self.set_state_dict(state_dict, use_structured_name)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Loads by structured name and complains about what does not fit.

        Args:
            state_dict (Mapping[str, Tensor]): values by structured name.
            strict (bool): raise when keys are missing or left over, rather than only report them.
            assign (bool): take the given tensors themselves (their dtype and place) instead of copying the values.

        Returns:
            A named tuple (missing_keys, unexpected_keys).

        Raises:
            RuntimeError: a shape differs, or `strict` and the keys differ.
            TypeError: `state_dict` is not a mapping.
        """
        if not hasattr(state_dict, "items"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        own = self._collect(None, True, "", False, False, True)
        missing = [key for key in own if key not in state_dict]
        unexpected = [key for key in state_dict if key not in own]
        errors = []
        for key, target in own.items():
            if key not in state_dict:
                continue
            value = state_dict[key]
            if list(value.shape) != list(target.shape):
                errors.append(
                    f"size mismatch for {key}: copying a param with shape {list(value.shape)} from checkpoint, "
                    f"the shape in current model is {list(target.shape)}."
                )
            elif assign:
                target.data = value
            else:
                _assign(target, value)
        if strict and unexpected:
            errors.insert(0, "Unexpected key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in unexpected)))
        if strict and missing:
            errors.insert(0, "Missing key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in missing)))
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return _IncompatibleKeys(missing, unexpected)


def _assign(target, value):
    """Copies a tensor or array into `target`; AssertionError if the dtypes differ."""
    import paddle

    if not isinstance(value, paddle.Tensor):
        value = paddle.to_tensor(np.asarray(value))
    assert value.dtype == target.dtype, (
        f"[set_state_dict] {target.name} has dtype {target.dtype}, but the value given has {value.dtype}"
    )
    target.set_value(value)
