"""Gradients of 16-bit parameters, gathered in float32 over many micro-batches."""

from __future__ import annotations

import paddle
from paddle import nn

from ...communication.ops import ReduceOp, all_reduce
from ..base.topology import latest
from .hybrid_parallel_util import obtain_optimizer_parameters_list


class MixPrecisionLayer(nn.Layer):
    """A model whose parameters' gradients are added up in ``param.main_grad``, in float32; ``param.grad`` stays None.

    Args:
        layers: the model. dtype: "float16" or "bfloat16", of its parameters.
    """

    def __init__(self, layers, dtype="float16") -> None:
        super().__init__(layers.full_name() + "_mix_precision")
        if dtype not in ("float16", "bfloat16"):
            raise ValueError(f"[MixPrecisionLayer] expected dtype 'float16' or 'bfloat16', got {dtype!r}")
        self._layers, self._dtype = layers, dtype
        for p in layers.parameters():
            if not hasattr(p, "main_grad"):
                p.main_grad = None
                if not p.stop_gradient:
                    p._register_backward_hook(self._gather(p))

    @staticmethod
    def _gather(param):
        @paddle.no_grad()
        def move():
            grad = param.grad
            if grad is None:
                return
            if param.main_grad is None:
                param.main_grad = grad.astype("float32") if grad.dtype != paddle.float32 else grad.clone()
            else:
                param.main_grad.add_(grad.astype("float32"))
            param.grad = None

        return move

    def forward(self, *inputs, **kwargs):
        return self._layers(*inputs, **kwargs)

    def state_dict(self, *args, **kwargs):
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict, *args, **kwargs):
        return self._layers.set_state_dict(state_dict, *args, **kwargs)


class MixPrecisionOptimizer:
    """``optimizer`` that takes ``main_grad`` for the gradient."""

    def __init__(self, optimizer) -> None:
        self._inner_opt = optimizer

    @paddle.no_grad()
    def step(self) -> None:
        inner = self._inner_opt
        for index, (params, options) in enumerate(inner._groups()):
            live = [p for p in params if getattr(p, "main_grad", None) is not None and not p.stop_gradient]
            if live:
                inner._update(live, [p.main_grad for p in live], options, index)

    def clear_grad(self, set_to_zero=True) -> None:
        for p in obtain_optimizer_parameters_list(self._inner_opt):
            if not hasattr(p, "main_grad"):
                p.clear_gradient(set_to_zero)
            elif p.main_grad is not None and set_to_zero:
                p.main_grad.zero_()
            else:
                p.main_grad = None

    def __getattr__(self, name):
        return getattr(self.__dict__["_inner_opt"], name)


class MixPrecisionScaler:
    """``scaler`` (changed in place) that unscales ``main_grad`` and looks for overflow there, on all ranks."""

    def __init__(self, scaler) -> None:
        self._inner_scaler = scaler
        scaler._unscale = self._unscale

    @paddle.no_grad()
    def _unscale(self, optimizer) -> None:
        scaler = self._inner_scaler
        if not scaler._enable:
            return
        grads = [
            p.main_grad
            for p in obtain_optimizer_parameters_list(optimizer)
            if getattr(p, "main_grad", None) is not None
        ]
        found = False
        for grad in grads:
            grad.scale_(1.0 / scaler._scale)
            found |= not bool(grad.isfinite().all())
        hcg = latest()
        if hcg is not None and hcg.nranks > hcg.get_data_parallel_world_size():
            box = paddle.to_tensor([int(found)], dtype="int32")
            all_reduce(box, ReduceOp.MAX)
            found = bool(int(box))
        scaler._found_inf = found

    def __getattr__(self, name):
        return getattr(self.__dict__["_inner_scaler"], name)
