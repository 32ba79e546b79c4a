"""Fleet: a job of many ranks from one call of init on."""

from __future__ import annotations

import copy
import os

from .. import get_rank, get_world_size, init_parallel_env
from ..communication.group import barrier
from ..per_rank import PerRank
from .base.distributed_strategy import DistributedStrategy
from .base.role_maker import PaddleCloudRoleMaker
from .base.topology import CommunicateTopology, HybridCommunicateGroup
from .base.util_factory import UtilBase
from .utils import log_util

_AXES = {"dp": "data", "pp": "pipe", "sharding": "sharding", "sep": "sep", "cp": "context", "mp": "model"}


class _State:
    def __init__(self) -> None:
        self._role_maker, self._hcg, self._topology = None, None, None
        self._user_defined_strategy = DistributedStrategy()
        self._is_collective = False
        self.user_defined_optimizer = None


class Fleet:
    """The job, as this rank sees it. ``paddle.distributed.fleet.fleet`` is the one there is; its methods are functions of the
    module, too."""

    def __init__(self) -> None:
        self.__dict__["_states"] = PerRank(_State)
        self.__dict__["_util"] = UtilBase()

    def __getattr__(self, name):
        try:
            return getattr(self.__dict__["_states"].get(), name)
        except AttributeError:
            raise AttributeError(f"Fleet has no attribute {name!r}") from None

    def __setattr__(self, name, value) -> None:
        setattr(self._states.get(), name, value)

    util = property(lambda self: self._util, doc="collectives of arrays and objects, and shares of lists of files")

    def init(self, role_maker=None, is_collective=False, strategy=None, log_level="INFO"):
        """Meets the other ranks and makes the groups that ``strategy.hybrid_configs`` asks for.

        Args:
            role_maker: None: what the launcher's variables say. is_collective: True: parameters are on every rank (there are no
                parameter servers here).
            strategy: DistributedStrategy.

        Raises:
            ValueError: degrees whose product is not the number of ranks. TypeError: something that is no strategy.
        """
        log_util.set_log_level(log_level)
        if strategy is not None and not isinstance(strategy, DistributedStrategy):
            raise TypeError(f"[fleet.init] expected a DistributedStrategy, got {type(strategy).__name__}")
        self._is_collective = is_collective
        self._role_maker = role_maker or PaddleCloudRoleMaker(is_collective=is_collective)
        if strategy is not None:
            strategy._refuse_ignored()
        self._user_defined_strategy = copy.deepcopy(strategy) if strategy is not None else DistributedStrategy()
        init_parallel_env()
        self._init_hybrid_parallel_env()
        return self

    def _init_hybrid_parallel_env(self) -> None:
        strategy = self._user_defined_strategy
        configs = strategy.hybrid_configs
        degrees = {short: max(1, int(configs[f"{short}_degree"])) for short in _AXES}
        if configs["dp_degree"] < 0:
            rest = 1
            for short, degree in degrees.items():
                rest *= degree if short != "dp" else 1
            degrees["dp"] = max(1, get_world_size() // rest)
        order = strategy.hybrid_parallel_order
        self._topology = CommunicateTopology([_AXES[s] for s in order], [degrees[s] for s in order])
        self._hcg = HybridCommunicateGroup(self._topology, configs)
        if degrees["mp"] > 1:
            from .layers.mpu.random import model_parallel_random_seed

            seed = strategy.tensor_parallel_configs["tensor_init_seed"]
            model_parallel_random_seed(None if seed == -1 else seed)

    def get_hybrid_communicate_group(self) -> HybridCommunicateGroup:
        """This rank's groups.

        Raises:
            RuntimeError: before :meth:`init`.
        """
        if self._hcg is None:
            raise RuntimeError("[fleet] call fleet.init(is_collective=True) first")
        return self._hcg

    def get_hybrid_parallel_topology(self) -> CommunicateTopology:
        """The grid of ranks; RuntimeError before :meth:`init`."""
        return self.get_hybrid_communicate_group().topology()

    # -- who is who
    def _role(self):
        return self._role_maker or PaddleCloudRoleMaker(is_collective=True)

    def worker_index(self) -> int:
        """This rank."""
        return self._role()._worker_index()

    def worker_num(self) -> int:
        """The number of ranks."""
        return self._role()._worker_num()

    def is_first_worker(self) -> bool:
        """Whether this is rank 0."""
        return self.worker_index() == 0

    def node_num(self) -> int:
        """The number of machines."""
        return int(os.environ.get("PADDLE_NNODES") or self._role()._node_num())

    def local_rank(self) -> int:
        """This rank's place on its machine."""
        return int(os.environ.get("PADDLE_RANK_IN_NODE") or os.environ.get("PADDLE_LOCAL_RANK") or get_rank())

    def local_device_ids(self) -> list:
        """Numbers of the devices that this process was given (``FLAGS_selected_gpus``; ``[0]`` without it)."""
        return [int(i) for i in (os.environ.get("FLAGS_selected_gpus") or "0").split(",")]

    def world_device_ids(self) -> list:
        """For every rank the list of its devices."""
        return [[i] for i in range(self.worker_num())]

    def is_worker(self) -> bool:
        """True: every process trains."""
        return True

    def is_server(self) -> bool:
        """False: there are no parameter servers."""
        return False

    def is_coordinator(self) -> bool:
        """False: there are no coordinators of federated learning."""
        return False

    def worker_endpoints(self, to_string=False):
        """host:port of every rank, as a list or joined by commas."""
        endpoints = self._role()._get_trainer_endpoints()
        return ",".join(endpoints) if to_string else endpoints

    def server_num(self) -> int:
        """0: there are no parameter servers."""
        return 0

    def server_index(self) -> int:
        """0: there are no parameter servers."""
        return 0

    def server_endpoints(self, to_string=False):
        """No addresses, as a list or joined by commas: there are no parameter servers."""
        return "" if to_string else []

    # -- working together
    def barrier_worker(self) -> None:
        """Waits for all ranks."""
        barrier()

    def all_reduce(self, input, mode="sum"):
        """An array of the ranks' arrays reduced by "sum", "max" or "min"."""
        return self._util.all_reduce(input, mode)

    def init_worker(self, scopes=None) -> None:
        """There is nothing to do without parameter servers."""

    def stop_worker(self) -> None:
        """There is nothing to do without parameter servers."""

    def _no_servers(self, *_, **__):
        """Raises NotImplementedError: there are no parameter servers."""
        raise NotImplementedError("[fleet] parameter servers are not supported")

    init_server = run_server = _no_servers

    def distributed_optimizer(self, optimizer, strategy=None):
        """The optimizer as the strategy wants it: :func:`fleet.distributed_optimizer`."""
        from .optimizer import distributed_optimizer

        return distributed_optimizer(optimizer, strategy)

    def distributed_model(self, model):
        """The model as the strategy wants it: :func:`fleet.distributed_model`."""
        from .model import distributed_model

        return distributed_model(model)

    def minimize(self, loss, startup_program=None, parameter_list=None, no_grad_set=None):
        """Backward and a step of the optimizer that :func:`distributed_optimizer` was given."""
        return self.user_defined_optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)

    # -- files: the first rank writes
    def save_inference_model(self, executor, dirname, feeded_var_names, target_vars, main_program=None, **_):
        """``static.save_inference_model`` on the first rank."""
        if self.is_first_worker():
            import paddle

            paddle.static.save_inference_model(
                os.path.join(dirname, "model"), feeded_var_names, target_vars, executor, program=main_program
            )

    def save_persistables(self, executor, dirname, main_program=None, mode=0):
        """``static.save`` on the first rank."""
        if self.is_first_worker():
            import paddle

            paddle.static.save(main_program or paddle.static.default_main_program(), os.path.join(dirname, "model"))


fleet = Fleet()
