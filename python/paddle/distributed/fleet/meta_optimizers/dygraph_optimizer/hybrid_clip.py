"""The global norm of gradients that are spread over fleet's groups."""

from __future__ import annotations

import paddle
from paddle.nn import clip as _clip

from ....communication.ops import all_reduce


class HybridParallelClipGrad:
    """ClipGradByGlobalNorm whose norm is that of the whole model: what is cut is summed over the tensor-parallel group, stages
    over the pipeline group. Every rank calls it."""

    def __init__(self, clip, hcg) -> None:
        self._clip, self._hcg = clip, hcg
        self.clip_norm = clip.clip_norm

    def _total(self, params_grads):
        cut, alike = paddle.zeros([1]), paddle.zeros([1])
        for p, g in params_grads:
            if not _clip._wanted(p, g) or not getattr(p, "is_firstly_shared", True):
                continue
            square = _clip._squared_l2_norm(g).astype("float32").reshape([1])
            if getattr(p, "is_distributed", False):
                cut += square
            else:
                alike += square
        hcg = self._hcg
        if hcg.get_model_parallel_world_size() > 1:
            all_reduce(cut, group=hcg.get_model_parallel_group())
        total = cut + alike
        if hcg.get_pipe_parallel_world_size() > 1:
            all_reduce(total, group=hcg.get_pipe_parallel_group())
        return total

    @paddle.no_grad()
    def __call__(self, params_grads):
        norm = paddle.sqrt(self._total(params_grads))
        factor = self.clip_norm / paddle.maximum(norm, paddle.full([1], float(self.clip_norm)))
        return [
            (p, g * factor.astype(g.dtype).reshape([]) if _clip._wanted(p, g) else g)
            for p, g in params_grads
            if g is not None
        ]

    def __getattr__(self, name):
        return getattr(self.__dict__["_clip"], name)
