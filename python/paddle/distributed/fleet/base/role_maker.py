"""Who a process is in its job. In collective jobs every process is a worker; the launcher says which."""

from __future__ import annotations

import os

from ... import get_rank, get_world_size


class Role:
    """Kinds of processes."""

    WORKER, SERVER, HETER_WORKER, ALL, COORDINATOR = 1, 2, 3, 4, 5


class PaddleCloudRoleMaker:
    """The role that the variables ``PADDLE_*`` say.

    Raises:
        NotImplementedError: parameter servers (``is_collective=False``) in a job of several processes.
    """

    def __init__(self, is_collective=False, **kwargs) -> None:
        self._is_collective, self._kwargs = is_collective, kwargs
        if not is_collective and os.environ.get("TRAINING_ROLE", "TRAINER").upper() in ("PSERVER", "HETER_TRAINER"):
            raise NotImplementedError("[fleet] parameter servers are not supported; use fleet.init(is_collective=True)")

    def _worker_index(self) -> int:
        return get_rank()

    def _worker_num(self) -> int:
        return get_world_size()

    def _role(self) -> int:
        return Role.WORKER

    def _get_trainer_endpoints(self) -> list:
        return [e for e in os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",") if e]

    def _node_num(self) -> int:
        return max(1, len({e.rsplit(":", 1)[0] for e in self._get_trainer_endpoints()}))

    def to_string(self) -> str:
        """Role, rank and number of ranks as text."""
        return f"role: {self._role()}, rank {self._worker_index()} of {self._worker_num()}"


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """A role given by hand: ``current_id``, ``worker_num``, ``role``, ``worker_endpoints``."""

    def __init__(self, is_collective=False, init_gloo=False, **kwargs) -> None:
        super().__init__(is_collective, **kwargs)

    def _worker_index(self) -> int:
        return self._kwargs.get("current_id", get_rank())

    def _worker_num(self) -> int:
        return self._kwargs.get("worker_num", get_world_size())

    def _get_trainer_endpoints(self) -> list:
        return self._kwargs.get("worker_endpoints") or super()._get_trainer_endpoints()
