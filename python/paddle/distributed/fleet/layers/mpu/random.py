"""Random states by name: dropout that is alike on all ranks of a group beside dropout that differs."""

from __future__ import annotations

import contextlib

import numpy as np

import paddle

from ....per_rank import PerRank

MODEL_PARALLEL_RNG = "model_parallel_rng"


class RNGStatesTracker:
    """States of the random generator by name; within :meth:`rng_state` the generator has one of them, which goes on there."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets all states."""
        self.states_: dict = {}
        self.seeds_: set = set()

    def add(self, name, seed) -> None:
        """Makes a state that begins with ``seed``.

        Raises:
            ValueError: the seed or the name is there already.
        """
        if seed in self.seeds_:
            raise ValueError(f"seed {seed} already exists")
        if name in self.states_:
            raise ValueError(f"state {name} already exists")
        self.seeds_.add(seed)
        before = paddle.get_rng_state()
        paddle.seed(seed)
        self.states_[name] = paddle.get_rng_state()
        paddle.set_rng_state(before)

    def get_states_tracker(self) -> dict:
        """A copy of the states by name."""
        return dict(self.states_)

    def set_states_tracker(self, states) -> None:
        """Takes states that :meth:`get_states_tracker` gave."""
        self.states_ = dict(states)

    @contextlib.contextmanager
    def rng_state(self, name=MODEL_PARALLEL_RNG):
        """Within it random operators draw from the state ``name``.

        Raises:
            ValueError: there is no such state.
        """
        if name not in self.states_:
            raise ValueError(f"state {name} does not exist")
        before = paddle.get_rng_state()
        paddle.set_rng_state(self.states_[name])
        try:
            yield
        finally:
            self.states_[name] = paddle.get_rng_state()
            paddle.set_rng_state(before)


_tracker = PerRank(RNGStatesTracker)


def get_rng_state_tracker() -> RNGStatesTracker:
    """This rank's tracker."""
    return _tracker.get()


def model_parallel_random_seed(seed=None) -> None:
    """Seeds the generator alike on all ranks of the tensor-parallel group, and the tracker's state ``model_parallel_rng`` apart.

    Args:
        seed: None: drawn by the group's first rank.
    """
    from ....communication.ops import broadcast_object_list
    from ...base.topology import current

    hcg = current()
    rank, group = hcg.get_model_parallel_rank(), hcg.get_model_parallel_group()
    if not seed:
        box = [int(np.random.randint(0, 655350))]
        if group.nranks > 1:
            broadcast_object_list(box, group.ranks[0], group)
        seed = box[0]
    tracker = get_rng_state_tracker()
    tracker.reset()
    tracker.add(MODEL_PARALLEL_RNG, seed * 1024 + rank * 100 + 1)
    paddle.seed(seed)


def dropout(x, p=0.5, axis=None, rng_name=None, training=True, mode="upscale_in_train", name=None):
    """``nn.functional.dropout`` that draws from the tracker's state ``rng_name``; None: from the generator."""
    with contextlib.nullcontext() if rng_name is None else get_rng_state_tracker().rng_state(rng_name):
        return paddle.nn.functional.dropout(x, p, axis, training, mode, name)
