"""The optimizer that fleet.distributed_optimizer makes."""

from __future__ import annotations

import paddle
from paddle.nn import ClipGradByGlobalNorm

from ...base.topology import ParallelMode
from ...utils.hybrid_parallel_util import fused_allreduce_gradients, obtain_optimizer_parameters_list
from .dygraph_sharding_optimizer import DygraphShardingOptimizer
from .hybrid_clip import HybridParallelClipGrad


class HybridParallelOptimizer:
    """``optimizer`` for a model over fleet's groups: gradients are averaged over data-parallel and sharding ranks and summed over
    segment-parallel ones, norms for clipping are those of the whole model, and sharding ranks share the states out."""

    def __init__(self, optimizer, hcg, strategy) -> None:
        self._hcg, self._strategy = hcg, strategy
        self._sharding = hcg.get_sharding_parallel_world_size() > 1
        # A DataParallel model averages by itself, in backward.
        self._reduces = hcg.get_parallel_mode() != ParallelMode.DATA_PARALLEL
        self._clip = None
        if isinstance(optimizer._grad_clip, ClipGradByGlobalNorm):
            # Clipped here, where every rank takes part, also one that has nothing to update.
            self._clip = HybridParallelClipGrad(optimizer._grad_clip, hcg)
            self._no_clip(optimizer)
        self._inner_opt = DygraphShardingOptimizer(optimizer, hcg) if self._sharding else optimizer
        merge = strategy is not None and strategy.gradient_merge
        self._merge_steps = strategy.gradient_merge_configs["k_steps"] if merge else 1
        self._merge_avg = bool(merge and strategy.gradient_merge_configs["avg"])
        self._gathered = 0

    @staticmethod
    def _no_clip(optimizer) -> None:
        optimizer._grad_clip = None
        for group in optimizer._param_groups:
            if isinstance(group, dict) and isinstance(group.get("grad_clip"), ClipGradByGlobalNorm):
                group["grad_clip"] = None

    @paddle.no_grad()
    def step(self) -> None:
        self._gathered += 1
        if self._gathered < self._merge_steps:
            return
        self._gathered = 0
        params = obtain_optimizer_parameters_list(self._inner_opt)
        if self._merge_avg:
            for p in params:
                if p.grad is not None:
                    p.grad.scale_(1.0 / self._merge_steps)
        if self._reduces:
            fused_allreduce_gradients(params, self._hcg)
        if self._sharding:
            self._inner_opt.reduce_gradients()
        if self._clip is not None:
            for p, grad in self._clip([(p, p.grad) for p in params]):
                p.grad = grad
        if self._sharding:
            self._inner_opt.step(reduce=False)
        else:
            self._inner_opt.step()

    def clear_grad(self, set_to_zero=True) -> None:
        """Clears the gradients, unless they are still being gathered."""
        if self._gathered == 0:
            self._inner_opt.clear_grad(set_to_zero)

    clear_gradients = clear_grad

    def minimize(self, loss, startup_program=None, parameters=None, no_grad_set=None):
        self.step()
        return None, None

    def __getattr__(self, name):
        return getattr(self.__dict__["_inner_opt"], name)
