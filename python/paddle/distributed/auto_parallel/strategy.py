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


class Config:
    """Options of one category, as attributes."""

    def __init__(self, category, given) -> None:
        defaults = copy.deepcopy(_DEFAULTS[category])
        for key, value in (given or {}).items():
            if key not in defaults:
                raise ValueError(f"[Strategy] {category} has no option {key!r}; it has {', '.join(defaults)}")
            defaults[key] = value
        self.__dict__.update(defaults)
        self.__dict__["_category"] = category

    def to_dict(self) -> dict:
        return {k: v for k, v in self.__dict__.items() if k != "_category"}

    def __repr__(self) -> str:
        return f"{self._category}: {self.to_dict()}"


class Strategy:
    """Options by category, each with ``enable``: ``sharding``, ``amp``, ``gradient_merge``, ``pipeline``, ``fused_passes``,
    ``recompute``, ...

    Args:
        config: a dictionary of dictionaries, ``{"sharding": {"enable": True, "stage": 2}}``.

    Raises:
        ValueError: a category or option that there is not.
    """

    def __init__(self, config=None) -> None:
        if config is not None and not isinstance(config, dict):
            raise ValueError(f"Expected a dictionary. But received: {config}")
        config = config or {}
        for category in config:
            if category not in _DEFAULTS and category not in ("auto_mode", "gradient_scale", "full_graph"):
                raise ValueError(f"[Strategy] there is no category {category!r}")
        self.auto_mode = config.get("auto_mode", "semi")
        self.gradient_scale = config.get("gradient_scale", True)
        self.full_graph = config.get("full_graph", True)
        for category in _DEFAULTS:
            setattr(self, "_" + category, Config(category, config.get(category)))

    def __repr__(self) -> str:
        return "\n".join(repr(getattr(self, "_" + c)) for c in _DEFAULTS)


for _category in _DEFAULTS:
    setattr(Strategy, _category, property(lambda self, c="_" + _category: getattr(self, c)))
