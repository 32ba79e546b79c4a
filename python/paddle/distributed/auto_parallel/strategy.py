"""Strategy: what :func:`paddle.distributed.to_static` shall do beyond partitioning."""

from __future__ import annotations

import copy

_DEFAULTS = {
    "sharding": {"enable": False, "stage": 1, "degree": 8, "overlap_grad_comm": False, "bucket_size_numel": -1,
                 "partition_algor": "greedy_even", "enable_tuning": False, "tuning_range": [],
                 "enable_stage1_tensor_fusion": False, "save_unbalanced_param": True},
    "fused_passes": {"enable": False, "gemm_epilogue": False, "dropout_add": False, "fused_passes_list": []},
    "gradient_merge": {"enable": False, "k_steps": 1, "avg": True},
    "pipeline": {"enable": False, "schedule_mode": "1F1B", "micro_batch_size": 1, "accumulate_steps": 1, "vpp_degree": 1,
                 "vpp_seg_method": "", "split_backward": False, "auto_parallel_sync_shared_params": False,
                 "program_runtimes": [61, 72, 71, 34, 3], "memory_limit_times": -1},
    "amp": {"enable": False, "dtype": "float16", "level": "O1", "init_loss_scaling": 32768.0, "incr_every_n_steps": 1000,
            "decr_every_n_nan_or_inf": 2, "incr_ratio": 2.0, "decr_ratio": 0.8, "use_dynamic_loss_scaling": True,
            "custom_white_list": [], "custom_black_list": [], "custom_black_varnames": [], "use_fp16_guard": False,
            "use_bf16_guard": False, "use_master_grad": False, "use_promote": False, "use_optimizer_fp16": False},
    "recompute": {"enable": False, "checkpoints": [], "no_recompute_segments": [], "enable_tuning": False, "sr": 0,
                  "refined_ops_patterns": []},
    "qat": {"enable": False, "channel_wise_abs_max": True, "weight_bits": 8, "activation_bits": 8, "not_quant_pattern": [],
            "algo": None},
    "tuning": {"enable": False, "profile_start_step": 1, "profile_end_step": 1, "run_after_tuning": True, "debug": False},
    "dataset": {"enable": False, "num_shards": 1},
    "mp_optimization": {"allreduce_matmul_grad_overlapping": False},
    "dp_optimization": {"enable": False, "fuse_all_reduce_ops": True, "fuse_grad_size_in_MB": 32,
                        "overlap_comm_cacl": True, "gradient_sync_after_accumulate": False},
    "sp_optimization": {"enable": True},
}  # fmt: skip


# Options that change what is done. All others may only be what they are by default.
_ACTING = {
    "sharding": {"enable", "stage", "degree"},
    "fused_passes": {"enable", "fused_passes_list"},
    "gradient_merge": {"enable", "k_steps", "avg"},
    "pipeline": {"enable", "schedule_mode", "micro_batch_size", "accumulate_steps"},
    "amp": {"enable", "dtype", "level", "init_loss_scaling", "incr_every_n_steps", "decr_every_n_nan_or_inf", "incr_ratio",
            "decr_ratio", "use_dynamic_loss_scaling", "custom_white_list", "custom_black_list"},
    "recompute": {"enable", "checkpoints", "no_recompute_segments"},
}  # fmt: skip


class Config:
    """Options of one category, as attributes.

    Raises:
        ValueError: an option that there is not. NotImplementedError: a value, other than the default, of an option that has no
            effect.
    """

    def __init__(self, category, given) -> None:
        self.__dict__["_category"] = category
        self.__dict__.update(copy.deepcopy(_DEFAULTS[category]))
        for key, value in (given or {}).items():
            setattr(self, key, value)

    def __setattr__(self, key, value) -> None:
        category, defaults = self._category, _DEFAULTS[self._category]
        if key not in defaults:
            raise ValueError(f"[Strategy] {category} has no option {key!r}; it has {', '.join(defaults)}")
        if key not in _ACTING.get(category, ()) and value != defaults[key]:
            raise NotImplementedError(
                f"[Strategy] {category}.{key} has no effect in this version: expected {defaults[key]!r}, got {value!r}"
            )
        self.__dict__[key] = value

    def get(self, key, default=None):
        """An option's value, or ``default``."""
        return self.__dict__.get(key, default)

    def from_dict(self, config) -> None:
        """Sets what a dictionary names."""
        for key, value in config.items():
            setattr(self, key, value)

    def to_dict(self) -> dict:
        return {k: v for k, v in self.__dict__.items() if k != "_category"}

    def __repr__(self) -> str:
        return f"{self._category}: {self.to_dict()}"


class Strategy:
    """Options by category, each with ``enable``: ``sharding``, ``amp``, ``gradient_merge``, ``pipeline``, ``fused_passes``,
    ``recompute``, ...

    Args:
        config: a dictionary of dictionaries, ``{"sharding": {"enable": True, "stage": 2}}``.

    What acts: ``amp``; ``gradient_merge``; ``sharding`` (``stage``; ``degree`` is the size of the mesh dimension that states
    are cut along); ``pipeline`` (``accumulate_steps`` micro-batches, or as many as ``micro_batch_size`` makes, by
    ``schedule_mode`` "1F1B" or "FThenB"); ``recompute`` (the items of every ``LayerList``, or the sublayers named in
    ``checkpoints``, but for those whose positions are in ``no_recompute_segments``). ``fused_passes`` (the passes of
    ``paddle.pir`` named in ``fused_passes_list`` run on the model's programs; what the compiler fuses needs no choice).

    Raises:
        ValueError: a category or option that there is not. NotImplementedError: an option without effect is set.
    """

    def __init__(self, config=None) -> None:
        if config is not None and not isinstance(config, dict):
            raise ValueError(f"Expected a dictionary. But received: {config}")
        config = config or {}
        for category in config:
            if category not in _DEFAULTS and category not in ("auto_mode", "gradient_scale", "full_graph"):
                raise ValueError(f"[Strategy] there is no category {category!r}")
        for key, only in (("auto_mode", "semi"), ("gradient_scale", True)):
            if config.get(key, only) != only:
                raise NotImplementedError(f"[Strategy] expected {key} to be {only!r}, got {config[key]!r}")
            setattr(self, key, only)
        self.full_graph = config.get("full_graph", True)
        for category in _DEFAULTS:
            setattr(self, "_" + category, Config(category, config.get(category)))

    def to_dict(self) -> dict:
        """All options, as a dictionary of dictionaries."""
        plain = {key: getattr(self, key) for key in ("auto_mode", "gradient_scale", "full_graph")}
        return {**plain, **{c: getattr(self, "_" + c).to_dict() for c in _DEFAULTS}}

    def from_dict(self, config) -> None:
        """Sets what a dictionary of dictionaries names."""
        for category, options in config.items():
            if category not in _DEFAULTS:
                raise ValueError(f"[Strategy] there is no category {category!r}")
            getattr(self, "_" + category).from_dict(options)

    def get(self, category, default=None):
        """A category's options, or ``default``."""
        return getattr(self, "_" + category, default)

    def __repr__(self) -> str:
        return "\n".join(repr(getattr(self, "_" + c)) for c in _DEFAULTS)


for _category in _DEFAULTS:
    _doc = f"Options of ``{_category}``: {', '.join(_DEFAULTS[_category])}."
    setattr(Strategy, _category, property(lambda self, c="_" + _category: getattr(self, c), doc=_doc))
