"""What ``Model.prepare`` is told of mixed precision."""

from __future__ import annotations

import paddle

__all__ = []

_LISTS = {"custom_white_list", "custom_black_list"}
_SCALER = {
    "init_loss_scaling", "incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf",
    "use_dynamic_loss_scaling",
}  # fmt: skip
_OTHERS = {"level", "use_pure_fp16", "use_fp16_guard"}


def amp_options(given):
    """(level, lists for ``auto_cast``, GradScaler or None) of "O0", "O1", "O2", or a dict with a "level".

    Raises:
        ValueError: an unknown level or option.
    """
    if not given:
        return "O0", {}, None
    options = {"level": given} if isinstance(given, str) else dict(given)
    level = options.get("level", "O2" if options.get("use_pure_fp16") else "O1")
    if level not in ("O0", "O1", "O2"):
        raise ValueError("amp_configs['level'] should be 'O0', 'O1' or 'O2'.")
    unknown = set(options) - _LISTS - _SCALER - _OTHERS
    if unknown:
        known = sorted(_LISTS | _SCALER)
        raise ValueError(f"Except for 'level', the keys of 'amp_configs' are {known}, got {sorted(unknown)}.")
    if level == "O0":
        return "O0", {}, None
    lists = {k: v for k, v in options.items() if k in _LISTS}
    return level, lists, paddle.amp.GradScaler(**{k: v for k, v in options.items() if k in _SCALER})
