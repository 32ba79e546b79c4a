"""Each rank of a group updates its share of the parameters and has states only for them (ZeRO stage 1, Rajbhandari et al. 2020)."""

from __future__ import annotations

import paddle

from ....communication.ops import broadcast
from ...utils.hybrid_parallel_util import fused_allreduce_gradients_with_group, obtain_optimizer_parameters_list


class DygraphShardingOptimizer:
    """``optimizer`` whose states are shared out over fleet's sharding group.

    A step averages the gradients over the group, updates this rank's parameters, and broadcasts every rank's to the others.
    """

    def __init__(self, optimizer, hcg) -> None:
        self._inner_opt, self._hcg = optimizer, hcg
        self._group = hcg.get_sharding_parallel_group()
        self._params = [p for p in obtain_optimizer_parameters_list(optimizer) if not p.stop_gradient]
        self._owner = self._share_out()

    def _share_out(self) -> dict:
        """The owner's place in the group by parameter: always who has fewest elements so far."""
        sizes, owner = [0] * self._group.nranks, {}
        for p in self._params:
            to = min(range(len(sizes)), key=sizes.__getitem__)
            owner[id(p)] = to
            sizes[to] += p.size
        return owner

    def owns(self, param) -> bool:
        """Does this rank update ``param``?"""
        return self._owner.get(id(param), self._group.rank) == self._group.rank

    def reduce_gradients(self, parameter_list=None, hcg=None) -> None:
        """Averages the gradients over the group."""
        fused_allreduce_gradients_with_group(parameter_list or self._params, self._group)

    @paddle.no_grad()
    def step(self, reduce=True) -> None:
        if reduce:
            self.reduce_gradients()
        others = [(p, p.grad) for p in self._params if not self.owns(p)]
        for p, _ in others:
            p.grad = None
        try:
            self._inner_opt.step()
        finally:
            for p, grad in others:
                p.grad = grad
        for p in self._params:
            broadcast(p.detach(), self._group.ranks[self._owner[id(p)]], self._group)

    def minimize(self, loss, startup_program=None, parameters=None, no_grad_set=None):
        self.step()
        return None, None

    def __getattr__(self, name):
        return getattr(self.__dict__["_inner_opt"], name)
