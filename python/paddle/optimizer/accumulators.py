"""Accumulators (moments and the like) and f32 master copies of 16-bit parameters."""

from __future__ import annotations

import numpy as np

from ..base import core, state


class AccumulatorMixin:
    """Names are part of the file format: ``<parameter>_<accumulator>_<n>``, or with a master copy
    ``<parameter>_fp32_master_<n>_<accumulator>_<n>``."""

    @staticmethod
    def _is_dtype_fp16_or_bf16(dtype) -> bool:
        return dtype in (core.float16, core.bfloat16)

    def _create_master_weight(self, param):
        """The f32 copy that 16-bit parameters are updated through; made on first use from the parameter."""
        master = self._master_weights.get(param.name)
        if master is None:
            name = self._unique_name(param.name + "_fp32_master")
            master = state.maker.computed(name, param, "float32", lambda p: p.detach().astype("float32"))
            self._master_weights[param.name] = master
        return master

    def _load_master_weights(self, masters) -> None:
        loaded = {}
        for name, value in masters.items():
            if not isinstance(value, core.Tensor):
                tensor = core.to_tensor(np.asarray(value))
                tensor.name = getattr(value, "name", None) or name + "_fp32_master_0"
                value = tensor
            loaded[name] = value
        self._master_weights = loaded

    def _uses_master(self, param) -> bool:
        return bool(self._multi_precision) and self._is_dtype_fp16_or_bf16(param.dtype)

    def _master_of(self, param):
        return self._create_master_weight(param) if self._uses_master(param) else None

    def _add_accumulator(self, name, param, dtype=None, fill_value=0.0, shape=None, type=None, device=None):
        """Makes accumulator ``name`` for ``param`` (of its shape and dtype unless told), or returns the one there is.

        A value of that name in a state set earlier is taken; otherwise it is filled with ``fill_value``.
        """
        by_param = self._accumulators[name]
        key = param.name
        if key in by_param:
            return by_param[key]
        shape = list(param.shape) if shape is None else list(shape)
        dtype = param.dtype if dtype is None else dtype
        like = param if param.is_dist() and shape == list(param.shape) else None
        accumulator = state.maker.full(
            self._unique_name(param.name + "_" + name), shape, float(fill_value), dtype, like=like
        )
        self._opti_name_list.append(accumulator.name)
        if self._accumulators_holder:
            if accumulator.name not in self._accumulators_holder:
                raise AssertionError(f"Optimizer set error, {accumulator.name} should in state dict")
            core.set_value_(accumulator, self._accumulators_holder.pop(accumulator.name))
        by_param[key] = accumulator
        return accumulator

    def _get_accumulator(self, name, param):
        """Accumulator ``name`` of ``param``.

        Raises:
            Exception: it was never made.
        """
        accumulator = self._accumulators.get(name, {}).get(param.name)
        if accumulator is None:
            raise Exception(f"Accumulator {name} does not exist for parameter {param.name}")
        return accumulator

    def _get_accumulator_master(self, name, param):
        """As ``_get_accumulator``, through the master copy where the parameter has one."""
        master = self._master_of(param)
        return self._get_accumulator(name, param if master is None else master)

    def _state(self, name, param, low_precision_as_f32=False, fill_value=0.0, shape=None, dtype=None):
        """Makes or gets an accumulator. With a master copy it is f32 and named after the master."""
        target = self._master_of(param)
        if target is None:
            target = param
            if dtype is None and low_precision_as_f32 and self._is_dtype_fp16_or_bf16(param.dtype):
                dtype = core.float32
        return self._add_accumulator(name, target, dtype=dtype, fill_value=fill_value, shape=shape)
