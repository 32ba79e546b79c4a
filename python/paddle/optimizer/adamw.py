"""AdamW: Adam with decoupled weight decay (Loshchilov and Hutter, 2019)."""

from __future__ import annotations

from ..base import core
from .adam import Adam


class AdamW(Adam):
    """``p <- p * (1 - lr * weight_decay)`` before Adam's update.

    Args beyond ``Adam``'s:
        weight_decay: the decoupled coefficient, a float or a 1-element tensor.
        use_lowprecision_moment: moments of 16-bit parameters without master copy keep the parameter's dtype.
        lr_ratio: called with a parameter, returns a factor of the learning rate.
        apply_decay_param_fun: called with a parameter's name, False means no decay for it.
    """

    type = "adamw"
    _decay_is_regularizer = False

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-08,
        parameters=None,
        weight_decay=0.01,
        use_lowprecision_moment: bool = False,
        lr_ratio=None,
        apply_decay_param_fun=None,
        grad_clip=None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        amsgrad: bool = False,
        name=None,
    ) -> None:
        if not isinstance(weight_decay, (float, core.Tensor)):
            raise TypeError("weight_decay should be float or Tensor.")
        if lr_ratio is not None and not callable(lr_ratio):
            raise TypeError("lr_ratio should be callable.")
        self._lr_ratio = lr_ratio
        self._apply_decay_param_fun = apply_decay_param_fun
        self._weight_decay = weight_decay
        self._use_lowprecision_moment = use_lowprecision_moment
        super().__init__(
            learning_rate, beta1, beta2, epsilon, parameters, None, grad_clip, lazy_mode, multi_precision,
            False, amsgrad, name,
        )  # fmt: skip
        self._default_dict["weight_decay"] = weight_decay
        for _, options in self._groups():
            if options is not None and options.get("weight_decay") is None:
                options["weight_decay"] = weight_decay

    def _decay_option(self, options):
        decay = self._weight_decay if options is None else options["weight_decay"]
        return core.number(decay)

    def _decay_and_scale(self, param, options):
        ratio = 1.0 if self._lr_ratio is None else float(self._lr_ratio(param))
        wanted = self._apply_decay_param_fun is None or self._apply_decay_param_fun(param.name)
        return (core.number(self._decay_option(options)) if wanted else 0.0), ratio

    def _state(self, name, param, low_precision_as_f32=False, fill_value=0.0, shape=None, dtype=None):
        keep = self._use_lowprecision_moment
        return super()._state(name, param, low_precision_as_f32 and not keep, fill_value, shape, dtype)
