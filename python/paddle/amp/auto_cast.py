"""Casting by operator, and models in 16 bits with f32 master weights."""

from __future__ import annotations

import functools

from ..base import core
from .amp_lists import operator_names

__all__ = ["auto_cast", "amp_guard", "autocast", "decorate"]


def is_float16_supported(device: str | None = None) -> bool:
    """Whether ``device`` (default: the current one) computes in float16; CPUs compute it in float32."""
    return not _place(device).is_cpu_place()


def is_bfloat16_supported(device: str | None = None) -> bool:
    """Whether ``device`` (default: the current one) computes in bfloat16."""
    return True


def _place(device):
    from ..framework.place import convert_to_place

    return core.current_place() if device is None else convert_to_place(device)


def _check(level, dtype, custom_white_list, custom_black_list) -> None:
    if level not in ("O0", "OD", "O1", "O2"):
        raise ValueError("level should be O0, OD, O1 or O2.")
    if dtype not in ("float16", "bfloat16"):
        raise ValueError("If enable amp, dtype should be 'float16' or 'bfloat16'.")
    if custom_white_list and custom_black_list and set(custom_white_list) & set(custom_black_list):
        raise ValueError("Custom white list overlap custom black list")


def _dtype_text(dtype) -> str:
    return dtype if isinstance(dtype, str) else str(dtype).rsplit(".", 1)[-1]


class _AutoCast:
    """Sets the casting rules on entry, and restores those before on exit; also a decorator."""

    def __init__(self, enable, white, black, level, dtype, use_promote):
        _check(level, dtype, white, black)
        self._level = level if enable else "O0"
        self._dtype = core.dtype_objects[dtype]
        self._white, self._black = operator_names(white or ()), operator_names(black or ())
        self._use_promote = use_promote
        self._saved: list = []

    def __enter__(self):
        self._saved.append(core.amp_state())
        core.set_amp_state(self._level, self._dtype, self._white, self._black)

    def __exit__(self, *exception) -> bool:
        core.set_amp_state(*self._saved.pop())
        return False

    def __call__(self, func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            with self:
                return func(*args, **kwargs)

        return wrapper


def auto_cast(
    enable: bool = True,
    custom_white_list=None,
    custom_black_list=None,
    level="O1",
    dtype="float16",
    use_promote: bool = True,
):
    """A context in which operators run in 16 bits where that is safe.

    Args:
        enable: False switches casting off inside.
        custom_white_list, custom_black_list: names of operators that run in ``dtype``, or in float32, whatever their
            record says.
        level: "O1": white operators in ``dtype``, black ones in float32, others in the widest type of their inputs;
            "O2": all but the black ones in ``dtype`` (see ``decorate``); "OD": white ones in ``dtype``, all others in
            float32; "O0": nothing.
        dtype: "float16" or "bfloat16".
        use_promote: "O2" only: operators with inputs of both widths run in the wider one.

    Raises:
        ValueError: an unknown level or dtype, or lists that overlap.
    """
    return _AutoCast(enable, custom_white_list, custom_black_list, level, _dtype_text(dtype), use_promote)


def amp_guard(
    enable=True, custom_white_list=None, custom_black_list=None, level="O1", dtype="float16", use_promote=True
):
    """The old name of ``auto_cast``."""
    return auto_cast(enable, custom_white_list, custom_black_list, level, dtype, use_promote)


class autocast(_AutoCast):  # noqa: N801 - the public name
    """``auto_cast`` as other frameworks call it: the first argument is the kind of device."""

    def __init__(self, device_type="cpu", dtype=None, enabled=True, cache_enabled=None):
        name = "bfloat16" if dtype is None else _dtype_text(dtype)
        super().__init__(enabled, None, None, "O1", name, True)


def is_autocast_enabled(device_type=None) -> bool:
    """Whether casting is on here."""
    return core.amp_state()[0] != "O0"


def get_autocast_dtype(device_type=None) -> str:
    """The 16-bit type in use here; "float16" where none is."""
    level, dtype = core.amp_state()[:2]
    name = _dtype_text(dtype)
    return name if level != "O0" and name in ("float16", "bfloat16") else "float16"


get_autocast_cpu_dtype = get_autocast_gpu_dtype = get_autocast_dtype


# ---- decorate -------------------------------------------------------------------------------------------------------
def _kept_in_f32(dtype):
    """Layers whose statistics need f32: all normalisations in float16, batch normalisation in bfloat16."""
    from .. import nn

    names = ["BatchNorm", "BatchNorm1D", "BatchNorm2D", "BatchNorm3D", "SyncBatchNorm"]
    if dtype == "float16":
        names += ["LayerNorm", "InstanceNorm1D", "InstanceNorm2D", "InstanceNorm3D"]
    return tuple(kind for kind in (getattr(nn, n, None) for n in names) if kind is not None)


def _excluded(excluded_layers):
    from .. import nn

    items = excluded_layers if isinstance(excluded_layers, (list, tuple)) else [excluded_layers]
    kinds, ids = [], set()
    for item in items:
        if item is None:
            continue
        if isinstance(item, nn.Layer):
            ids.update(id(layer) for layer in item.sublayers(include_self=True))
        elif isinstance(item, type):
            kinds.append(item)
        else:
            raise TypeError(f"[decorate] excluded_layers expected Layers or Layer classes, got {type(item).__name__}")
    return tuple(kinds), ids


def _to_low_precision(model, dtype, excluded_layers) -> None:
    kinds, ids = _excluded(excluded_layers)
    kinds += _kept_in_f32(dtype)
    for layer in model.sublayers(include_self=True):
        keep = isinstance(layer, kinds) or id(layer) in ids or not getattr(layer, "_cast_to_low_precision", True)
        if not keep:
            layer._to_impl(dtype=dtype, include_sublayers=False, floating_only=True)


def _save_as(model, save_dtype) -> None:
    def cast(state):
        for key, value in state.items():
            if _dtype_text(value.dtype) in ("float16", "bfloat16", "float32", "float64"):
                saved = value.astype(save_dtype)
                saved.name = value.name
                state[key] = saved
        return state

    model.register_state_dict_hook(cast)


def decorate(
    models,
    optimizers=None,
    level="O1",
    dtype="float16",
    master_weight: bool | None = None,
    save_dtype=None,
    master_grad: bool = False,
    excluded_layers=None,
):
    """Prepares models and optimizers for "O2": parameters in ``dtype`` (but for normalisations), masters in f32.

    Args:
        models, optimizers: one or a list of each.
        level: "O2"; with "O1" all is returned as it came.
        master_weight: f32 copies that the optimizers update (default: yes).
        save_dtype: dtype of the values that the models' ``state_dict`` gives.
        master_grad: gradients are turned into f32 before they are clipped and used.
        excluded_layers: layers, or classes of layers, that keep their dtype.

    Returns:
        ``models``, or ``(models, optimizers)`` where optimizers were given, in the form they came.
    """
    if level not in ("O1", "O2"):
        raise ValueError("level should be O1 or O2, O1 represent AMP train mode, O2 represent Pure fp16 train mode.")
    dtype = _dtype_text(dtype)
    if dtype not in ("float16", "bfloat16"):
        raise ValueError("dtype only support float16 or bfloat16.")
    if save_dtype is not None and _dtype_text(save_dtype) not in ("float16", "bfloat16", "float32", "float64"):
        raise ValueError(
            f"save_dtype can only be float16 float32 or float64, but your input save_dtype is {save_dtype}."
        )
    if level == "O2":
        _decorate(models, optimizers, dtype, master_weight, save_dtype, master_grad, excluded_layers)
    return models if optimizers is None else (models, optimizers)


def _decorate(models, optimizers, dtype, master_weight, save_dtype, master_grad, excluded_layers) -> None:
    from .. import nn
    from ..optimizer import Optimizer

    for model in models if isinstance(models, (list, tuple)) else [models]:
        if not isinstance(model, nn.Layer):
            raise RuntimeError(
                f"current train mode is pure fp16, models should be paddle.nn.Layer, but receive {type(model)}."
            )
        _to_low_precision(model, dtype, excluded_layers)
        if save_dtype is not None:
            _save_as(model, _dtype_text(save_dtype))
    if optimizers is None:
        return
    for optimizer in optimizers if isinstance(optimizers, (list, tuple)) else [optimizers]:
        inner = getattr(optimizer, "_inner_opt", optimizer)
        if not isinstance(inner, Optimizer):
            raise RuntimeError(f"optimizers should be paddle.optimizer.Optimizer, but receive {type(optimizer)}.")
        inner._multi_precision = master_weight is not False
        inner._master_grad = bool(master_grad)
        inner._plans.clear()
