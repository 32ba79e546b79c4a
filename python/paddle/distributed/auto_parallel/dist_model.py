"""``paddle.distributed.to_static``: a layer, loss and optimizer as distributed programs."""

from __future__ import annotations

import contextlib
import inspect

import numpy as np

import paddle

from . import pipeline_schedule as schedule
from .api import attr_of, reshard, shard_tensor
from .extra_passes import added_passes
from .placement_type import Replicate
from .process_mesh import ProcessMesh, get_mesh
from .recompute_layers import chosen, recomputed
from .strategy import Strategy


class _Step(paddle.nn.Layer):
    """What one mode captures: the network, then the loss."""

    def __init__(self, network, loss, num_inputs, recompute=()) -> None:
        super().__init__()
        self.network, self.loss_fn, self._num_inputs = network, loss, num_inputs
        self.__dict__["recompute"] = recompute

    def forward(self, *data):
        with recomputed(self.recompute) if self.recompute else contextlib.nullcontext():
            outs = self.network(*data[: self._num_inputs])
        if self.loss_fn is None:
            return outs
        outs = outs if isinstance(outs, (list, tuple)) else [outs]
        return self.loss_fn(*outs, *data[self._num_inputs :])


class DistModel:
    """A model that runs as one compiled program per mode, each rank its part. Made by :func:`to_static`.

    Call it with a batch: ``train()`` mode steps the optimizer and returns the loss, ``eval()`` returns the loss, ``predict()`` the
    network's outputs. Losses come as NumPy values.
    """

    def __init__(self, layer, loader, loss=None, optimizer=None, strategy=None, metrics=None, input_spec=None) -> None:
        self.network, self._loader, self._loss, self._optimizer = layer, loader, loss, optimizer
        self._strategy = strategy or Strategy()
        self._input_spec = input_spec
        self._num_inputs = self._count_inputs(loader)
        self._steps: dict = {}
        self._mode = None
        self._gathered = 0
        self._scaler = self._make_scaler()
        if loss is not None and optimizer is not None:
            self.train()
        elif loss is not None:
            self.eval()
        else:
            self.predict()

    # -- what the program's arguments are
    def _count_inputs(self, loader):
        """How many items of a batch go to the network; the rest are labels. None: told by the call."""
        if self._input_spec is not None:
            inputs = self._input_spec[0] if isinstance(self._input_spec[0], (list, tuple)) else self._input_spec[:1]
            return len(inputs)
        try:
            parameters = inspect.signature(self.network.forward).parameters.values()
        except (TypeError, ValueError):
            return None
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            return None
        return len([p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)])

    def _inputs_of(self, data) -> int:
        if self._loss is None or self._mode == "predict":
            return len(data) if self._num_inputs is None else min(self._num_inputs, len(data))
        return min(self._num_inputs or len(data) - 1, len(data) - 1)

    # -- modes
    def train(self) -> None:
        """The next calls train.

        Raises:
            RuntimeError: there is no loss or no optimizer.
        """
        if self._loss is None or self._optimizer is None:
            raise RuntimeError("Failed to set train mode: `loss` or `optimizer` is not set.")
        self._mode = "train"
        self.network.train()

    def eval(self) -> None:
        """The next calls return the loss.

        Raises:
            RuntimeError: there is no loss.
        """
        if self._loss is None:
            raise RuntimeError("Failed to set eval mode: `loss` is not set.")
        self._mode = "eval"
        self.network.eval()

    def predict(self) -> None:
        """The next calls return the network's outputs."""
        self._mode = "predict"
        self.network.eval()

    mode = property(lambda self: self._mode, doc="\"train\", \"eval\" or \"predict\"")

    # -- running
    def _step(self, data):
        key = self._mode, self._inputs_of(data)
        step = self._steps.get(key)
        if step is None:
            loss = self._loss if self._mode != "predict" else None
            recompute = self._strategy.recompute
            again = chosen(self.network, recompute) if recompute.enable and self._mode == "train" else ()
            step = _Step(self.network, loss, key[1], again)
            step.training = self._mode == "train"
            step = self._steps[key] = paddle.jit.to_static(step, full_graph=self._strategy.full_graph)
        return step

    def _amp(self):
        amp = self._strategy.amp
        return paddle.amp.auto_cast(
            enable=amp.enable, level=amp.level if amp.enable else "O1", dtype=amp.dtype if amp.enable else "float16",
            custom_white_list=amp.custom_white_list or None, custom_black_list=amp.custom_black_list or None,
        )  # fmt: skip

    def _passes(self):
        """Within it the strategy's passes run on programs that are compiled."""
        fused = self._strategy.fused_passes
        if not fused.enable or not fused.fused_passes_list:
            return contextlib.nullcontext()
        return added_passes(fused.fused_passes_list)

    def _make_scaler(self):
        """Float16's small gradients vanish unless the loss is scaled."""
        amp = self._strategy.amp
        if not amp.enable or amp.dtype != "float16" or not amp.use_dynamic_loss_scaling:
            return None
        return paddle.amp.GradScaler(
            init_loss_scaling=amp.init_loss_scaling, incr_ratio=amp.incr_ratio, decr_ratio=amp.decr_ratio,
            incr_every_n_steps=amp.incr_every_n_steps, decr_every_n_nan_or_inf=amp.decr_every_n_nan_or_inf,
        )  # fmt: skip

    def __call__(self, *args):
        data = [a if isinstance(a, paddle.Tensor) else paddle.to_tensor(a) for a in _flat(args)]
        with self._passes():
            return self._call(data)

    def _call(self, data):
        step = self._step(data)
        if self._mode != "train":
            with paddle.no_grad(), self._amp():
                return _numbers(step(*data), self._mode == "eval", self._ranks(data))
        loss = self._train(step, data)
        return _numbers(loss, True, self._ranks(data))

    # -- training
    def _train(self, step, data):
        """Forward and backward, and the update when all gradients that belong to it are there. Returns the loss."""
        merge = self._strategy.gradient_merge
        steps = merge.k_steps if merge.enable else getattr(self._optimizer, "gradient_accumulation_steps", 1) or 1
        divisor = steps if steps > 1 and (merge.avg or not merge.enable) else 1
        loss = (
            self._pipeline(step, data, divisor) if self._strategy.pipeline.enable else self._once(step, data, divisor)
        )
        self._gathered += 1
        if self._gathered >= steps:
            self._gathered = 0
            self._update()
        return loss

    def _once(self, step, data, divisor):
        with self._amp():
            loss = step(*data)
        self._scaled(loss / divisor if divisor > 1 else loss).backward()
        return loss.detach()

    def _pipeline(self, step, data, divisor):
        options = self._strategy.pipeline
        n = options.accumulate_steps
        if n == 1 and options.micro_batch_size > 1:
            n = max(1, data[0].shape[0] // options.micro_batch_size)
        plan = schedule.instructions(options.schedule_mode, n, schedule.stages_of(self.network.parameters()))

        def forward(*batch):
            with self._amp():
                return step(*batch)

        return schedule.run(
            plan, schedule.micro_batches(data, n), forward, lambda loss: self._scaled(loss / (n * divisor))
        )

    def _scaled(self, loss):
        return loss if self._scaler is None else self._scaler.scale(loss)

    def _update(self) -> None:
        if self._scaler is None:
            self._optimizer.step()
        else:
            self._scaler.step(self._optimizer)
            self._scaler.update()
        self._optimizer.clear_grad()

    def _ranks(self, data) -> list:
        """All ranks of the model's meshes."""
        tensors = [*self.network.parameters(), *self.network.buffers(), *data]
        return sorted({i for t in tensors if t.is_dist() for i in attr_of(t)[0].process_ids})

    def dist_main_program(self, mode=None):
        """The captured program of a mode (the current one), or None before its first call."""
        mode = mode or self._mode
        for (known, _), step in self._steps.items():
            if known == mode:
                program = getattr(step.forward, "concrete_program", None)
                return getattr(program, "main_program", program)
        return None

    serial_main_program = dist_main_program

    def stages(self, mode=None) -> list:
        """(name, text) of the mode's program: captured, sharded, decomposed, fused. Empty before the mode's first call."""
        program = self.dist_main_program(mode)
        return [] if program is None else program.stages()

    def dist_startup_program(self, mode=None):
        """Parameters are initialised when they are made: there is nothing for a program to do."""
        return None

    # -- state
    def state_dict(self, mode="all", split_fusion=True) -> dict:
        """Parameters and buffers by name (``"params"``), the optimizer's states (``"opt"``), or both."""
        state: dict = {}
        if mode in ("all", "params", "param"):
            state.update(self.network.state_dict())
        if mode in ("all", "opt") and self._optimizer is not None:
            state.update({k: v for k, v in self._optimizer.state_dict().items() if isinstance(v, paddle.Tensor)})
        return state

    def set_state_dict(self, state_dict) -> None:
        """Writes values into the parameters, buffers and optimizer states of these names, wherever they lie."""
        own = self.network.state_dict()
        for name, value in state_dict.items():
            if name in own:
                own[name].set_value(_alike(value, own[name]))
        if self._optimizer is not None:
            rest = {k: v for k, v in state_dict.items() if k not in own}
            if rest:
                self._optimizer.set_state_dict(rest)


def _alike(value, target):
    attr = attr_of(target)
    if attr is None or not isinstance(value, paddle.Tensor):
        return value
    return reshard(value, *attr) if value.is_dist() else shard_tensor(value, *attr)


def _flat(args) -> list:
    out: list = []
    for a in args:
        out.extend(_flat(a)) if isinstance(a, (list, tuple)) else out.append(a)
    return out


def _numbers(value, scalar, ranks=()):
    if isinstance(value, (list, tuple)):
        return [_numbers(v, scalar, ranks) for v in value]
    if not isinstance(value, paddle.Tensor):
        return value
    array = _everywhere(value, ranks).numpy()
    return array if not scalar else np.asarray(array)[()]


def _everywhere(value, ranks):
    """A result that stayed on the mesh of a few ranks, on all of them."""
    attr = attr_of(value)
    if attr is None or set(ranks) <= set(attr[0].process_ids):
        return value
    return reshard(value, ProcessMesh(list(ranks)), [Replicate()])


def to_static(layer, loader=None, loss=None, optimizer=None, strategy=None, input_spec=None):
    """The layer (with a loss and an optimizer) as distributed programs.

    Args:
        layer: parameters may be distributed tensors; what is computed with them follows their placements.
        loader: of batches (inputs, labels), as :class:`paddle.io.DataLoader`; batches are the same on every rank.
        loss: ``loss(outputs, labels)``. optimizer: of the layer's parameters.
        strategy: :class:`Strategy`.
        input_spec: ``[inputs, labels]`` as lists of InputSpec, where the number of inputs isn't forward's.
    """
    if strategy is not None and strategy.sharding.enable and optimizer is not None:
        optimizer = _sharded(layer, optimizer, strategy.sharding)
    return DistModel(layer, loader, loss, optimizer, strategy, input_spec=input_spec)


def _sharded(layer, optimizer, config):
    from .shard_optimizer import ShardingStage1, ShardingStage2, ShardingStage3, shard_optimizer

    stages = {1: ShardingStage1, 2: ShardingStage2, 3: ShardingStage3}
    if config.stage not in stages:
        raise ValueError(f"[Strategy] expected sharding.stage in 1, 2, 3, got {config.stage}")
    mesh = next((attr_of(p)[0] for p in layer.parameters() if attr_of(p)), None) or get_mesh()
    if mesh is None:
        raise ValueError(
            "[Strategy] sharding: expected a distributed parameter, or a mesh by paddle.distributed.set_mesh"
        )
    axis = 0
    if config.degree != Strategy().sharding.degree:
        if config.degree not in mesh.shape:
            raise ValueError(f"[Strategy] expected sharding.degree to be the size of a mesh dimension, one of {mesh.shape}, "
                             f"got {config.degree}")  # fmt: skip
        axis = mesh.shape.index(config.degree)
    return shard_optimizer(optimizer, stages[config.stage](mesh, axis))
