"""TranslatedLayer: a Layer whose methods are programs read from files.

Its base is ``paddle.nn.Layer``, which is imported only when one is made: importing ``paddle.jit`` stays cheap.
"""

from __future__ import annotations

import functools
from typing import Any

from . import _trace_api as api
from .structure import flatten, unflatten


class _Meta(type):
    def __instancecheck__(cls, obj: Any) -> bool:
        return (
            cls is not TranslatedLayer
            and super().__instancecheck__(obj)
            or (cls is TranslatedLayer and isinstance(obj, _layer_type()))
        )


class TranslatedLayer(metaclass=_Meta):
    """What ``paddle.jit.load`` returns: called like the Layer that was saved, with its parameters and saved methods.

    ``train()`` makes parameters trainable again for fine-tuning; ``program(method_name)`` gives a method's program.
    """

    def __new__(cls, programs=None, persistable_vars=None):
        return _layer_type()(programs, persistable_vars)

    @staticmethod
    def _from_loaded(loaded) -> Any:
        return _layer_type()(loaded.methods, loaded.parameters)


@functools.lru_cache(maxsize=1)
def _layer_type() -> type:
    base = api.layer_class()

    class _TranslatedLayer(base):
        def __init__(self, programs, persistable_vars) -> None:
            super().__init__()
            self._programs = dict(programs or {})
            for name, value in (persistable_vars or {}).items():
                key = name.replace(".", "_")
                if getattr(value, "is_parameter", False) or not value.stop_gradient:
                    self.add_parameter(key, value)
                else:
                    self.register_buffer(key, value)
            for name in self._programs:
                if name != "forward":
                    self.__dict__[name] = functools.partial(self._run, name)
            self.eval()

        def forward(self, *args):
            return self._run("forward", *args)

        def _run(self, method: str, *args):
            if method not in self._programs:
                raise ValueError(
                    f"[TranslatedLayer] no method '{method}' was saved; there are {sorted(self._programs)}"
                )
            entry = self._programs[method]
            leaves: list = []
            flatten(args, leaves)
            tensors = [v if api.is_tensor(v) else api.to_tensor(v) for v in leaves if v is not None]
            outs = entry.runner(*tensors)
            if entry.out_structure is None:
                return outs[0] if len(outs) == 1 else list(outs)
            return unflatten(entry.out_structure, outs)

        def program(self, method_name: str = "forward"):
            """The program of a saved method."""
            if method_name not in self._programs:
                raise ValueError(
                    f"[TranslatedLayer] no method '{method_name}' was saved; there are {sorted(self._programs)}"
                )
            return self._programs[method_name].program

        def _input_spec(self, method_name: str = "forward") -> list:
            return list(self._programs[method_name].specs)

    _TranslatedLayer.__name__ = _TranslatedLayer.__qualname__ = "TranslatedLayer"
    _TranslatedLayer.__module__ = "paddle.jit"
    return _TranslatedLayer
