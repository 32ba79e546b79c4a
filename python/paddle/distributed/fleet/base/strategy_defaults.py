"""The fields of DistributedStrategy and what they are by default (names and values of Paddle 3's)."""

SWITCHES = {
    "a_sync": True, "adam_d2sum": False, "adaptive_localsgd": False, "amp": False, "asp": False, "auto": False,
    "auto_search": False, "conv_workspace_size_limit": 512, "cudnn_batchnorm_spatial_persistent": False,
    "cudnn_exhaustive_search": False, "dgc": False, "elastic": False, "find_unused_parameters": False,
    "fp16_allreduce": False, "fuse_all_reduce_ops": True, "fuse_grad_merge": False, "fuse_grad_size_in_MB": 32,
    "fuse_grad_size_in_num": 8, "gradient_merge": False, "heter_ccl_mode": False, "hierarchical_allreduce_inter_nranks": 1,
    "is_fl_ps_mode": False, "is_with_coordinator": False, "lamb": False, "lars": False, "last_comm_group_size_MB": 1.0,
    "localsgd": False, "nccl_comm_num": 1, "pipeline": False, "qat": False, "recompute": False, "semi_auto": False,
    "sharding": False, "split_data": True, "sync_batch_norm": False, "sync_nccl_allreduce": True, "tensor_parallel": False,
    "use_hierarchical_allreduce": False, "without_graph_optimization": True, "fs_client_param": "",
    "fleet_desc_configs": [], "sparse_table_configs": [],
}  # fmt: skip

CONFIGS = {
    "a_sync_configs": {"k_steps": -1, "max_merge_var_num": 1, "send_queue_size": 16, "independent_recv_thread": False,
                       "min_send_grad_num_before_recv": 1, "thread_pool_size": 1, "send_wait_times": 1,
                       "runtime_split_send_recv": False, "launch_barrier": True, "heter_worker_device_guard": "cpu",
                       "lr_decay_steps": 10, "use_ps_gpu": 0, "use_gpu_graph": 0},
    "adaptive_localsgd_configs": {"init_k_steps": 1, "begin_step": 1},
    "amp_configs": {"init_loss_scaling": 32768.0, "incr_every_n_steps": 1000, "decr_every_n_nan_or_inf": 2, "incr_ratio": 2.0,
                    "decr_ratio": 0.8, "use_dynamic_loss_scaling": True, "custom_white_list": [], "custom_black_list": [],
                    "custom_black_varnames": [], "use_pure_fp16": False, "use_fp16_guard": True, "use_optimizer_fp16": False,
                    "use_pure_bf16": False},
    "dgc_configs": {"rampup_begin_step": 0, "rampup_step": 1, "sparsity": []},
    "gradient_merge_configs": {"k_steps": 1, "avg": True},
    "gradient_scale_configs": {"scale_strategy": "avg", "scale_gradient": False},
    "lamb_configs": {"lamb_weight_decay": 0.01, "exclude_from_weight_decay": []},
    "lars_configs": {"lars_coeff": 0.001, "lars_weight_decay": 0.0005, "epsilon": 0.0, "exclude_from_weight_decay": []},
    "localsgd_configs": {"k_steps": 1, "begin_step": 1},
    "pipeline_configs": {"micro_batch_size": 1, "accumulate_steps": 1, "schedule_mode": "1F1B", "p2p_cache_shape": True,
                         "enable_partial_send_recv": True},
    "qat_configs": {"channel_wise_abs_max": True, "weight_bits": 8, "activation_bits": 8, "not_quant_pattern": [], "algo": ""},
    "recompute_configs": {"checkpoints": [], "enable_offload": False, "checkpoint_shape": [], "enable_tuning": False,
                          "refined_ops_patterns": []},
    "sharding_configs": {"sharding_segment_strategy": "segment_broadcast_MB", "segment_broadcast_MB": 32.0,
                         "segment_anchors": [], "sharding_degree": 8, "mp_degree": 1, "dp_degree": 1, "hybrid_dp": False,
                         "gradient_merge_acc_step": 1, "optimize_offload": False, "pp_allreduce_in_optimize": False,
                         "pp_degree": 1, "optimize_cast": False, "_dp_as_optimizer_sharding": False, "stage": 1,
                         "enable_tuning": False, "use_calc_stream": False},
    "tensor_parallel_configs": {"tensor_parallel_degree": 1, "tensor_init_seed": -1},
    "trainer_desc_configs": {"dump_fields_path": "", "dump_fields": [], "dump_param": [], "stat_var_names": [], "trainer": "",
                             "device_worker": "", "local_sparse": [], "remote_sparse": []},
}  # fmt: skip

HYBRID = {
    "dp_degree": -1, "mp_degree": 1, "pp_degree": 1, "sharding_degree": 1, "sep_degree": 1, "cp_degree": 1, "ep_degree": 1,
    "moe_sharding_degree": 1, "cp_sharding_degree": 1, "enable_optimizer_timer": False, "split_norm_comm": False,
}  # fmt: skip

# Nested options of hybrid_configs. A group's options for NCCL are kept and mean nothing here.
HYBRID_NESTED = {
    "mp_configs": {"sync_param": True, "sync_grad": False, "sync_moment": False, "sync_mode": "broadcast",
                   "need_broadcast_data": True, "mp_async_allreduce": False, "mp_skip_c_identity": False,
                   "mp_fused_linear_param_grad_add": False, "recompute_allgather": False, "sp_async_reduce_scatter": False},
    "pp_configs": {"dp_comm_overlap": False, "delay_scale_loss": False, "enable_timer": False, "sharding_comm_overlap": False,
                   "profiling": False, "release_gradients": False, "overlap_p2p_comm": True, "clear_every_step_cache": False,
                   "use_batch_p2p_comm": True, "best_unbalanced_scheduler": False, "enable_offload_queue": False,
                   "use_dualpipev": False, "forward_backward_overlap_scheduler": False},
    "sharding_configs": {"tensor_fusion": False, "accumulate_steps": 1, "comm_overlap": False, "split_param": False,
                         "fuse_optimizer": True, "use_reduce_avg": True, "comm_buffer_size_MB": 256, "release_gradients": False,
                         "free_grads_in_comm": False, "offload_opt_buffer_size": -1},
    **{name: {} for name in ("dp_configs", "sep_configs", "dp_sep_configs", "pp_tp_configs", "ep_configs",
                             "moe_sharding_configs", "default_comm_group_configs", "cp_configs", "cp_sharding_configs",
                             "dp_cp_configs", "cp_mp_configs")},
}  # fmt: skip

# What changes what is done. All else may only be what it is by default, since it would be ignored.
ACTING_SWITCHES = {
    "a_sync", "amp", "find_unused_parameters", "fuse_grad_size_in_MB", "last_comm_group_size_MB", "gradient_merge", "pipeline",
    "recompute", "sharding", "tensor_parallel", "sync_batch_norm",
}  # fmt: skip
# Tuning of other devices: kept, with nothing to tune on a CPU.
TUNING = {
    "conv_workspace_size_limit", "cudnn_batchnorm_spatial_persistent", "cudnn_exhaustive_search", "fuse_all_reduce_ops",
    "fuse_grad_size_in_num", "nccl_comm_num", "sync_nccl_allreduce", "use_hierarchical_allreduce",
    "hierarchical_allreduce_inter_nranks", "without_graph_optimization", "split_data", "fuse_grad_merge",
}  # fmt: skip
