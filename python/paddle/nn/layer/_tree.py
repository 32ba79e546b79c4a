"""Walking a tree of layers."""

from __future__ import annotations


def _join(prefix, name):
    return f"{prefix}.{name}" if prefix else name


class TreeMixin:
    """Everything of `Layer` that visits sublayers, parameters and buffers."""

    def train(self, mode=True):
        """Puts this layer and all below it into training mode (or evaluation mode for False); returns self."""
        for layer in self.sublayers(include_self=True):
            layer.training = mode
        return self

    def eval(self):
        """Puts this layer and all below it into evaluation mode; returns self."""
        return self.train(False)

    def apply(self, fn):
        """Calls ``fn(layer)`` on every layer, children before parents; returns self."""
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    def named_children(self):
        """Yields (name, Layer) of the direct sublayers, each once."""
        seen = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and layer not in seen:
                seen.add(layer)
                yield name, layer

    def children(self):
        """Yields the direct sublayers."""
        for _, layer in self.named_children():
            yield layer

    def named_sublayers(self, prefix="", include_self=False, layers_set=None, remove_duplicate=True):
        """Yields (structured name, Layer) of all sublayers, parents first.

        Args:
            prefix (str): put before every name.
            include_self (bool): whether this layer comes first.
            layers_set (set, optional): layers to leave out; grows with what is yielded.
            remove_duplicate (bool): whether a layer that is reached twice comes once.
        """
        if layers_set is None:
            layers_set = set()
        if include_self and self not in layers_set:
            if remove_duplicate:
                layers_set.add(self)
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None:
                yield from layer.named_sublayers(_join(prefix, name), True, layers_set, remove_duplicate)

    def sublayers(self, include_self=False):
        """The list of all sublayers, parents first."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """Yields (structured name, Layer), this layer included."""
        return self.named_sublayers(prefix, True, memo, remove_duplicate)

    def modules(self):
        """Yields this layer and all sublayers."""
        for _, layer in self.named_modules():
            yield layer

    def _named_members(self, table, prefix, include_sublayers, remove_duplicate):
        seen = set()
        layers = (
            self.named_sublayers(prefix, True, remove_duplicate=remove_duplicate)
            if include_sublayers
            else [(prefix, self)]
        )
        for layer_prefix, layer in layers:
            for name, tensor in getattr(layer, table).items():
                if tensor is None or id(tensor) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(tensor))
                yield _join(layer_prefix, name), tensor

    def named_parameters(self, prefix="", include_sublayers=True, remove_duplicate=True):
        """Yields (structured name, Parameter)."""
        return self._named_members("_parameters", prefix, include_sublayers, remove_duplicate)

    def parameters(self, include_sublayers=True):
        """The list of parameters, each once."""
        return [p for _, p in self.named_parameters(include_sublayers=include_sublayers)]

    def named_buffers(self, prefix="", include_sublayers=True, remove_duplicate=True):
        """Yields (structured name, Tensor) of the buffers."""
        return self._named_members("_buffers", prefix, include_sublayers, remove_duplicate)

    def buffers(self, include_sublayers=True):
        """The list of buffers, each once."""
        return [b for _, b in self.named_buffers(include_sublayers=include_sublayers)]

    def clear_gradients(self, set_to_zero=True):
        """Clears the gradients of all trainable parameters: zeros, or none at all for False."""
        for parameter in self.parameters():
            if parameter.trainable:
                parameter.clear_gradient(set_to_zero)

    def zero_grad(self, set_to_none=True):
        """Clears the gradients of all trainable parameters: none at all, or zeros for False."""
        self.clear_gradients(set_to_zero=not set_to_none)

    def requires_grad_(self, requires_grad=True):
        """Makes every parameter trainable (or not); returns self."""
        for parameter in self.parameters():
            parameter.stop_gradient = not requires_grad
        return self

    def get_sublayer(self, target):
        """The sublayer at the dotted path `target`; this layer for "".

        Raises:
            AttributeError: there is none, or what is there is no Layer.
        """
        layer = self
        for part in target.split(".") if target else ():
            if not hasattr(layer, part):
                raise AttributeError(f"{layer._get_name()} has no attribute `{part}`")
            layer = getattr(layer, part)
            if not isinstance(layer, TreeMixin):
                raise AttributeError(f"`{part}` is not an nn.Layer")
        return layer

    def get_submodule(self, target):
        """Same as `get_sublayer`."""
        return self.get_sublayer(target)

    def set_sublayer(self, target, layer, strict=False):
        """Puts `layer` at the dotted path `target`.

        Args:
            target (str): where; not empty.
            layer (Layer): what.
            strict (bool): whether a layer must stand there already.

        Raises:
            ValueError: `target` is empty.
            AttributeError: no layer holds the path, or with `strict` nothing stands there.
        """
        if target == "":
            raise ValueError("Cannot set the sublayer without a target name!")
        path, _, name = target.rpartition(".")
        if not isinstance(layer, TreeMixin):
            raise ValueError(f"`layer` is not an nn.Layer, found {type(layer)}")
        parent = self.get_sublayer(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), TreeMixin):
            raise AttributeError(f"`{name}` is not an nn.Layer")
        setattr(parent, name, layer)

    def set_submodule(self, target, layer, strict=False):
        """Same as `set_sublayer`."""
        self.set_sublayer(target, layer, strict)

    def _member(self, target, table, kind):
        path, _, name = target.rpartition(".")
        layer = self.get_sublayer(path)
        if not hasattr(layer, name):
            raise AttributeError(f"{layer._get_name()} has no attribute `{name}`")
        if name not in getattr(layer, table):
            raise AttributeError(f"`{name}` is not {kind}")
        return getattr(layer, table)[name]

    def get_parameter(self, target):
        """The parameter at the dotted path `target`; AttributeError if there is none."""
        return self._member(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target):
        """The buffer at the dotted path `target`; AttributeError if there is none."""
        return self._member(target, "_buffers", "a buffer")

    @property
    def _modules(self):
        return self._sub_layers

    @property
    def _non_persistent_buffers_set(self):
        return self._non_persistable_buffer_names_set

    def get_extra_state(self):
        """State beyond tensors; a subclass that has some overrides this."""
        raise RuntimeError(
            "Reached a code path in Layer.get_extra_state() that should never be called: override it to use it."
        )
