"""``fleet.distributed_model``."""

from __future__ import annotations

import paddle

from .base.topology import ParallelMode
from .meta_parallel import (
    NoPipelineParallel,
    PipelineLayer,
    PipelineParallel,
    PipelineParallelWithInterleave,
    SegmentParallel,
    ShardingParallel,
    TensorParallel,
)

_WRAPPERS = {
    ParallelMode.SHARDING_PARALLEL: ShardingParallel, ParallelMode.SEGMENT_PARALLEL: SegmentParallel,
    ParallelMode.TENSOR_PARALLEL: TensorParallel,
}  # fmt: skip


def distributed_model(model):
    """The model as one of many ranks: in a wrapper for the kind of parallelism that :func:`fleet.init`'s degrees say.

    Raises:
        TypeError: pipeline parallelism of a model that is no PipelineLayer.
    """
    from .fleet import fleet as env

    strategy, hcg = env._user_defined_strategy, env._hcg
    if model is None:
        raise ValueError("model should not be None")
    if strategy.sync_batch_norm:
        model = paddle.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    if strategy.amp and (strategy.amp_configs["use_pure_fp16"] or strategy.amp_configs["use_pure_bf16"]):
        dtype = "float16" if strategy.amp_configs["use_pure_fp16"] else "bfloat16"
        model = paddle.amp.decorate(models=model, level="O2", dtype=dtype)
    if env.worker_num() <= 1:
        return NoPipelineParallel(model, strategy)
    mode = hcg.get_parallel_mode()
    if mode == ParallelMode.PIPELINE_PARALLEL:
        if not isinstance(model, PipelineLayer):
            raise TypeError("For pipeline parallel, the model should an instance of PipelineLayer")
        interleaved = model.get_num_virtual_stages() > 1
        return (PipelineParallelWithInterleave if interleaved else PipelineParallel)(model, hcg, strategy)
    if isinstance(model, PipelineLayer):
        return NoPipelineParallel(model, strategy, hcg)
    if mode == ParallelMode.DATA_PARALLEL:
        return paddle.DataParallel(
            model, comm_buffer_size=strategy.fuse_grad_size_in_MB, last_comm_buffer_size=strategy.last_comm_group_size_MB,
            find_unused_parameters=strategy.find_unused_parameters, group=hcg.get_data_parallel_group(),
        )  # fmt: skip
    return _WRAPPERS[mode](model, hcg, strategy)
