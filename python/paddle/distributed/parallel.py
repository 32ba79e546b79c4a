"""The process environment and data parallelism."""

from __future__ import annotations

import contextlib
import os

import paddle

from .._core import dist as _dist
from .communication.group import default_group, resolve
from .communication.ops import ReduceOp, all_reduce, broadcast


class ParallelMode:
    """Names of ways to parallelise."""

    DATA_PARALLEL, TENSOR_PARALLEL, PIPELINE_PARALLEL, SHARDING_PARALLEL, SEGMENT_PARALLEL = range(5)


def init_parallel_env(nccl_config=None):
    """Meets the other ranks of the job (variables ``PADDLE_*``, which the launcher sets) and makes the default group.

    Ranks of one machine talk through shared memory; a group that spans machines uses Gloo. Ranks wait for each other for
    ``FLAGS_stop_check_timeout`` seconds (900). A process that is alone meets nobody, and gets None. ``nccl_config`` has no meaning without NCCL.

    Raises:
        RuntimeError: there are several ranks and nothing says where they meet.
        TimeoutError: ranks did not come; it names them.
    """
    if _dist.world_size() < 2:
        return None
    backend = os.environ.get("PADDLE_DISTRI_BACKEND", "auto")
    # The launcher says gloo on machines without GPUs: shared memory serves within one, Gloo across several.
    seconds = float(os.environ.get("FLAGS_stop_check_timeout") or 900)
    _dist.connect("auto" if backend in ("gloo", "nccl", "auto", "") else backend, seconds)
    return default_group()


def is_initialized() -> bool:
    """Whether the default group is there."""
    return _dist.connected()


def is_available() -> bool:
    """Whether this build has distributed training: always."""
    return True


def destroy_process_group(group=None) -> None:
    """Leaves a group; None: all of them."""
    if group is None or group.id == 0:
        _dist.disconnect()
    else:
        _dist.drop_group(group.id)


def get_backend(group=None) -> str:
    """The name of the group's back end, in capitals."""
    return resolve(group).backend.upper()


def get_rank(group=None) -> int:
    """This process's rank in the job, or in ``group`` (-1 outside it)."""
    return _dist.rank() if group is None else group.rank


def get_world_size(group=None) -> int:
    """Ranks of the job, or of ``group``."""
    return _dist.world_size() if group is None else group.world_size


class ParallelEnv:
    """What the launcher said about this process."""

    rank = property(lambda self: _dist.rank(), doc="This process's rank.")
    world_size = property(lambda self: _dist.world_size(), doc="Ranks of the job.")
    local_rank = property(lambda self: _dist.rank(), doc="This process's rank.")
    nranks = property(lambda self: _dist.world_size(), doc="Ranks of the job.")
    device_type = property(lambda self: "cpu", doc="The kind of device: cpu.")
    device_id = property(
        lambda self: int((os.environ.get("FLAGS_selected_gpus") or "0").split(",")[0]),
        doc="The number of this process's device.",
    )
    dev_id = device_id
    current_endpoint = property(
        lambda self: os.environ.get("PADDLE_CURRENT_ENDPOINT", ""), doc="This process's address."
    )
    trainer_endpoints = property(
        lambda self: os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(","), doc="All processes' addresses."
    )
    nrings = property(lambda self: 1, doc="Rings of a collective: 1.")
    pg_timeout = property(lambda self: 1800000, doc="How long a collective waits, in milliseconds.")


class _Bucket:
    """Gradients that are reduced together, when the last of them has come."""

    def __init__(self, params) -> None:
        self.params, self.missing = params, {id(p) for p in params}

    def came(self, param) -> bool:
        """Notes a gradient; whether it was the last."""
        self.missing.discard(id(param))
        if self.missing:
            return False
        self.missing = {id(p) for p in self.params}
        return True

    def left_over(self) -> list:
        """What did not come though others of the bucket did."""
        return [p for p in self.params if id(p) in self.missing] if len(self.missing) < len(self.params) else []


class DataParallel(paddle.nn.Layer):
    """A layer whose replicas on all ranks train on different parts of a batch: after backward every gradient is the mean over the
    ranks. Parameters are made equal to those of the group's first rank.

    Args:
        layers: the layer.
        comm_buffer_size: megabytes of gradients that are reduced together.
        find_unused_parameters: True if some parameters may get no gradient (the same on all ranks); then each is reduced on its
            own, as it comes.
        group: None: all ranks.

    Raises:
        RuntimeError: at the next forward, if parameters got no gradient and ``find_unused_parameters`` is False.
    """

    def __init__(self, layers, strategy=None, comm_buffer_size=25, last_comm_buffer_size=1, find_unused_parameters=False,
                 group=None):  # fmt: skip
        super().__init__(layers.full_name() + "_data_parallel")
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters
        self._buckets: list = []
        self.grad_need_sync = True
        self.group = default_group() if group is None else group
        if self.group.nranks > 1:
            with paddle.no_grad():
                for value in layers.state_dict().values():
                    broadcast(value, self.group.ranks[0], self.group)
            self._hook(int(comm_buffer_size * 1024 * 1024))

    def _hook(self, limit) -> None:
        params, seen = [], set()
        for p in reversed(list(self._layers.parameters())):  # roughly the order in which gradients come
            if not p.stop_gradient and id(p) not in seen and not getattr(p, "no_sync", False):
                seen.add(id(p))
                params.append(p)
        open_buckets: dict = {}
        for p in params:
            part = open_buckets.setdefault(p.dtype, [])
            part.append(p)
            if self.find_unused_parameters or sum(q.size * q.itemsize for q in part) >= limit:
                self._make_bucket(open_buckets.pop(p.dtype))
        for part in open_buckets.values():
            self._make_bucket(part)

    def _make_bucket(self, params) -> None:
        bucket = _Bucket(params)
        self._buckets.append(bucket)

        def hook(param):
            def ready():
                if self.grad_need_sync and bucket.came(param):
                    self._reduce([p for p in params if p.grad is not None])

            return ready

        for p in params:
            p._register_backward_hook(hook(p))

    def _reduce(self, params) -> None:
        if not params:
            return
        with paddle.no_grad():
            flat = paddle.concat([p.grad.reshape([-1]) for p in params])
            all_reduce(flat, ReduceOp.AVG, self.group)
            at = 0
            for p in params:
                part = flat[at : at + p.size].reshape(p.grad.shape)
                p.grad.copy_(part)
                at += p.size

    def forward(self, *inputs, **kwargs):
        unused = [p.name for bucket in self._buckets for p in bucket.left_over()]
        if unused:
            raise RuntimeError(
                f"[DataParallel] the last backward gave no gradients to {', '.join(unused)}, so gradients that are reduced together "
                "with theirs were not reduced; pass find_unused_parameters=True"
            )
        return self._layers(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self):
        """Within it backward only accumulates; the first backward outside reduces all that was gathered."""
        before, self.grad_need_sync = self.grad_need_sync, False
        try:
            yield
        finally:
            self.grad_need_sync = before

    @staticmethod
    def scale_loss(loss):
        """The loss as it is: gradients are averaged where they are reduced."""
        return loss

    def apply_collective_grads(self) -> None:
        """Reduces all gradients now."""
        self._reduce([p for p in self._layers.parameters() if p.grad is not None])

    def state_dict(self, *args, **kwargs):
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict, use_structured_name=True):
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict


def sync_params_buffers(model, comm_group=None, src_rank=0, is_model_parallel=False, fuse_params=True,
                        is_moe_sharding_parallel=False) -> None:  # fmt: skip
    """Parameters and buffers become those of rank ``src_rank``; with ``is_model_parallel`` only those that are not cut."""
    group = default_group() if comm_group is None else comm_group
    if group.nranks < 2:
        return
    with paddle.no_grad():
        for value in model.state_dict().values():
            if not (is_model_parallel and getattr(value, "is_distributed", False)):
                broadcast(value, src_rank, group)


class parallel_helper:  # a module of official Paddle's
    """Whether this process is one of many."""

    @staticmethod
    def _is_parallel_ctx_initialized() -> bool:
        return _dist.connected()

    @staticmethod
    def _is_data_parallel_mode() -> bool:
        return _dist.world_size() > 1
