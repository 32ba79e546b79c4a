"""Training of a PipelineLayer: micro-batches go through the stages by a schedule."""

from __future__ import annotations

import paddle

from ...auto_parallel import pipeline_schedule as schedule
from ...communication.ops import broadcast
from .p2p import Channel
from .parallel_layers.pp_layers import PipelineLayer
from .wrappers import MetaParallelBase


def _tensors(value) -> list:
    return [t for t in (value if isinstance(value, (tuple, list)) else [value]) if isinstance(t, paddle.Tensor)]


def _cut(value, m, size):
    """The m-th micro-batch of a tensor, of each in a tuple, or of a list that has them apart."""
    if isinstance(value, list):
        return value[m]
    if isinstance(value, tuple):
        return tuple(_cut(v, m, size) for v in value)
    if isinstance(value, paddle.Tensor):
        if value.shape[0] < (m + 1) * size:
            raise ValueError(f"[PipelineParallel] expected a batch of at least {(m + 1) * size} items "
                             f"(micro_batch_size {size}), got {value.shape[0]}")  # fmt: skip
        return value[m * size : (m + 1) * size]
    return value


class _Training(MetaParallelBase):
    """What pipelines and single stages have in common."""

    def _options(self, strategy) -> None:
        configs = strategy.pipeline_configs if strategy is not None else {}
        self.micro_batch_size = configs.get("micro_batch_size", 1)
        self.accumulate_steps = configs.get("accumulate_steps", 1)
        self.schedule_mode = configs.get("schedule_mode", "1F1B")
        self.scaler, self.total_loss = None, None

    def train_batch(
        self, data, optimizer, lr_scheduler=None, scaler=None, loss_fn_idx=0, return_micro_batch_loss=False
    ):
        """One step. Returns the mean of the micro-batches' losses, on every stage.

        Args:
            data: (inputs, labels): tensors, tuples of tensors, or lists of micro-batches. The first stage reads the inputs, the
                last the labels.
            optimizer: steps and clears its gradients. lr_scheduler: steps too. scaler: a GradScaler.
        """
        if isinstance(loss_fn_idx, int) and loss_fn_idx != 0:
            raise NotImplementedError("[train_batch] a PipelineLayer has one loss function")
        self._layers.train()
        self.scaler = scaler
        loss = self.forward_backward_pipeline(data, scaler)
        with paddle.no_grad():
            if scaler is None:
                optimizer.step()
            else:
                scaler.step(optimizer)
                scaler.update()
            optimizer.clear_grad()
            if lr_scheduler is not None:
                lr_scheduler.step()
        return loss

    def _loss(self, output, labels):
        loss_fn = self._layers._loss_fn if isinstance(self._layers, PipelineLayer) else None
        if loss_fn is None:
            raise ValueError("[PipelineParallel] expected a loss_fn in the PipelineLayer")
        return loss_fn(output, labels)


class PipelineParallel(_Training):
    """A PipelineLayer on the ranks of fleet's pipeline group, a stage each. A stage may have several chunks of the layers."""

    def __init__(self, layers, hcg, strategy) -> None:
        if not isinstance(layers, PipelineLayer):
            raise TypeError("The Layer should be a derived class of PipelineLayer.")
        super().__init__(layers, hcg, strategy)
        self._options(strategy)
        self.num_stages, self.stage_id = hcg.get_pipe_parallel_world_size(), hcg.get_stage_id()
        self.num_model_chunks = layers.get_num_virtual_stages()
        self.pp_group = hcg.get_pipe_parallel_group()
        self._activations = Channel(self.pp_group)
        # With chunks both kinds go both ways between two stages: each kind needs an order of its own.
        self._gradients = Channel(self._groups_again() if self.num_model_chunks > 1 else self.pp_group)
        if self.schedule_mode not in schedule.SCHEDULES:
            raise NotImplementedError(f"[PipelineParallel] expected pipeline_configs['schedule_mode'] to be one of "
                                      f"{', '.join(schedule.SCHEDULES)}, got {self.schedule_mode!r}")  # fmt: skip

    def _groups_again(self):
        return self._hcg._make_group(self._hcg.topology().get_comm_list("pipe"))

    def is_pipeline_first_stage(self, ignore_virtual=False) -> bool:
        return self.stage_id == 0

    def is_pipeline_last_stage(self, ignore_virtual=False) -> bool:
        return self.stage_id == self.num_stages - 1

    def _peer(self, step) -> int:
        return self.pp_group.ranks[(self.stage_id + step) % self.num_stages]

    def _is_first(self, chunk) -> bool:
        return self.stage_id == 0 and chunk == 0

    def _is_last(self, chunk) -> bool:
        return self.is_pipeline_last_stage() and chunk == self.num_model_chunks - 1

    def _plan(self) -> list:
        n, chunks = self.accumulate_steps, self.num_model_chunks
        if chunks > 1:
            return schedule.interleaved(n, self.stage_id, self.num_stages, chunks)
        return [(kind, m, 0) for kind, m in schedule.SCHEDULES[self.schedule_mode](n, self.stage_id, self.num_stages)]

    def forward_backward_pipeline(self, data, scaler=None, static_scheduler=False, return_micro_batch_loss=False):
        """Forward and backward of all micro-batches; gradients are left in the parameters. Returns the mean loss."""
        plan = self._plan()
        if static_scheduler:
            return ";".join(
                f"{kind.lower()}{m}" + (f"_vp{c}" if self.num_model_chunks > 1 else "") for kind, m, c in plan
            )
        kept: dict = {}
        total = None
        for kind, m, chunk in plan:
            if kind == schedule.FORWARD:
                loss = kept[m, chunk] = self._forward(data, m, chunk)
                if self._is_last(chunk):
                    part = loss[1].detach().astype("float32") / self.accumulate_steps
                    total = part if total is None else total + part
            else:
                self._backward(*kept.pop((m, chunk)), chunk, scaler)
        self._activations.finish()
        self._gradients.finish()
        self._layers.allreduce_shared_weight_gradients()
        return self._share_loss(total)

    def _input(self, data, m, chunk):
        return (
            _cut(data[0], m, self.micro_batch_size) if self._is_first(chunk) else self._activations.recv(self._peer(-1))
        )

    def _run(self, x, chunk):
        return self._layers(x, chunk) if self.num_model_chunks > 1 else self._layers(x)

    def _forward(self, data, m, chunk):
        """(input, output) of a chunk of this stage; the last one's output is the loss."""
        x = self._input(data, m, chunk)
        out = self._run(x, chunk)
        if self._is_last(chunk):
            out = self._loss(out, _cut(data[1], m, self.micro_batch_size))
        else:
            self._activations.send(out, self._peer(+1))
        return x, out

    def _backward(self, x, out, chunk, scaler) -> None:
        if self._is_last(chunk):
            loss = out / self.accumulate_steps
            (scaler.scale(loss) if scaler is not None else loss).backward()
        else:
            grads = self._gradients.recv(self._peer(+1))
            outs = [t for t in _tensors(out) if not t.stop_gradient]
            paddle.autograd.backward(outs, list(_tensors(grads)))
        if not self._is_first(chunk):
            self._gradients.send(
                tuple(paddle.zeros_like(t) if t.grad is None else t.grad for t in _tensors(x) if not t.stop_gradient),
                self._peer(-1),
            )

    def _share_loss(self, total):
        loss = total if self.is_pipeline_last_stage() else paddle.zeros([1])
        shape = loss.shape
        with paddle.no_grad():
            loss = loss.reshape([1]).astype("float32")
            broadcast(loss, self.pp_group.ranks[-1], self.pp_group)
            self.total_loss = loss.reshape(shape if self.is_pipeline_last_stage() else [])
        return self.total_loss

    def eval_batch(self, data, compute_loss=False, loss_fn_idx=0, return_host_tensor=False):
        """The mean loss (``compute_loss``), on every stage; or the outputs of the micro-batches, on the last stage."""
        self._layers.eval()
        outs, total = [], None
        with paddle.no_grad():
            for m in range(self.accumulate_steps):
                for chunk in range(self.num_model_chunks):
                    out = self._run(self._input(data, m, chunk), chunk)
                    if not self._is_last(chunk):
                        self._activations.send(out, self._peer(+1))
                    elif compute_loss:
                        part = self._loss(out, _cut(data[1], m, self.micro_batch_size)).astype("float32")
                        total = part if total is None else total + part
                    else:
                        outs.append(out)
            self._activations.finish()
        return self._share_loss(None if total is None else total / self.accumulate_steps) if compute_loss else outs


class PipelineParallelWithInterleave(PipelineParallel):
    """A PipelineParallel whose stages have several chunks."""

    def __init__(self, layers, hcg, strategy) -> None:
        super().__init__(layers, hcg, strategy)
        if self.num_model_chunks < 2:
            raise ValueError(
                "[PipelineParallelWithInterleave] expected a PipelineLayer with num_virtual_pipeline_stages > 1"
            )


class NoPipelineParallel(_Training):
    """A model, or all stages of a PipelineLayer, on one rank: the same methods."""

    def __init__(self, layers, strategy=None, hcg=None) -> None:
        super().__init__(layers, hcg, strategy)
        self._options(strategy)

    def is_pipeline_first_stage(self, ignore_virtual=False) -> bool:
        return True

    is_pipeline_last_stage = is_pipeline_first_stage

    def forward_backward_pipeline(self, data, scaler=None, **_):
        total = None
        for m in range(self.accumulate_steps):
            loss = self._loss(
                self._layers(_cut(data[0], m, self.micro_batch_size)), _cut(data[1], m, self.micro_batch_size)
            )
            part = loss / self.accumulate_steps
            (scaler.scale(part) if scaler is not None else part).backward()
            total = part.detach() if total is None else total + part.detach()
        self.total_loss = total
        return total

    def eval_batch(self, data, compute_loss=False, **_):
        self._layers.eval()
        outs, total = [], None
        with paddle.no_grad():
            for m in range(self.accumulate_steps):
                out = self._layers(_cut(data[0], m, self.micro_batch_size))
                if compute_loss:
                    part = self._loss(out, _cut(data[1], m, self.micro_batch_size)) / self.accumulate_steps
                    total = part if total is None else total + part
                outs.append(out)
        return total if compute_loss else outs
