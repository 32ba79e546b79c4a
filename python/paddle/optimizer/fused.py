"""Optimizers whose update is one multi-tensor operator per bucket of parameters that share dtype and coefficients."""

from __future__ import annotations

from operator import attrgetter, is_

from ..base import state
from ..regularizer import L2Decay
from .optimizer import Optimizer


class Bucket:
    """Parameters of one call, with their states in the order the operator wants them."""

    __slots__ = ("index", "params", "lr_scale", "decay", "masters", "states", "regularize")

    def __init__(self, lr_scale, decay, regularize):
        self.index, self.params, self.masters = [], [], None
        self.lr_scale, self.decay, self.regularize = lr_scale, decay, regularize
        self.states = ()


_regularizer = attrgetter("regularizer")


class _Plan:
    """Buckets for one list of parameters, with what they were derived from so that a change is noticed.

    The check runs at every step, so it is made of C-level loops; dtypes are looked at where a bucket begins and ends
    (the operator itself refuses a bucket of mixed dtypes).
    """

    __slots__ = ("params", "attrs", "scales", "regularizers", "dtypes", "options", "buckets")

    def __init__(self, params, options):
        self.params = list(params)
        self.attrs = [getattr(p, "optimize_attr", None) or {"learning_rate": 1.0} for p in params]
        self.scales = [a["learning_rate"] for a in self.attrs]
        # Plain tensors have no such attribute; parameters always do.
        all_have_it = all(hasattr(p, "regularizer") for p in params)
        self.regularizers = list(map(_regularizer, params)) if all_have_it else None
        self.options = options
        self.buckets = []
        self.dtypes = []

    def close(self, buckets) -> None:
        """Takes the buckets that were made."""
        self.buckets = buckets
        self.dtypes = [(p, p.dtype) for b in buckets for p in (b.params[0], b.params[-1])]

    def fits(self, params, options) -> bool:
        return (
            len(params) == len(self.params)
            and options == self.options
            and all(map(is_, params, self.params))
            and [a["learning_rate"] for a in self.attrs] == self.scales
            and (self.regularizers is None or all(map(is_, map(_regularizer, params), self.regularizers)))
            and all(p.dtype is dtype or p.dtype == dtype for p, dtype in self.dtypes)
        )


class FusedOptimizer(Optimizer):
    """Subclasses give ``_states(param)`` (one tensor per state) and ``_launch(bucket, grads, lr)``."""

    # The operator adds an L2 penalty itself, so no gradient is rewritten for it.
    _fuses_l2 = False

    def _states(self, param) -> tuple:
        return ()

    def _launch(self, bucket, grads, lr) -> None:
        raise NotImplementedError

    def _decay_and_scale(self, param, options):
        """(coefficient for the operator, factor of the learning rate) of one parameter."""
        regularizer = self._regularizer_of(param, self.regularization)
        if self._fuses_l2 and isinstance(regularizer, L2Decay):
            return float(regularizer._coeff), 1.0
        return 0.0, 1.0

    def _needs_regularization(self, param) -> bool:
        regularizer = self._regularizer_of(param, self.regularization)
        return regularizer is not None and not (self._fuses_l2 and isinstance(regularizer, L2Decay))

    def _decay_option(self, options):
        """What of a group's options the plan depends on."""
        return None

    def _make_plan(self, params, options) -> _Plan:
        plan = _Plan(params, self._decay_option(options))
        self._create_accumulators(None, params)
        buckets = {}
        for i, param in enumerate(params):
            decay, ratio = self._decay_and_scale(param, options)
            scale = plan.scales[i] * ratio
            regularize = self._needs_regularization(param)
            key = (str(param.dtype), scale, decay, regularize)
            bucket = buckets.get(key)
            if bucket is None:
                bucket = buckets[key] = Bucket(scale, decay, regularize)
            bucket.index.append(i)
            bucket.params.append(param)
        for bucket in buckets.values():
            if self._uses_master(bucket.params[0]):
                bucket.masters = [self._create_master_weight(p) for p in bucket.params]
            rows = [self._states(p) for p in bucket.params]
            bucket.states = tuple([None if column[0] is None else list(column) for column in zip(*rows)])
            if len(buckets) == 1:
                bucket.index = None
        plan.close(list(buckets.values()))
        return plan

    def _append_optimize(self, params, grads, options, index) -> None:
        plan = self._plans.get(index)
        if plan is None or not plan.fits(params, self._decay_option(options)):
            plan = self._plans[index] = self._make_plan(params, options)
        lr = state.maker.learning_rate(self)
        for bucket in plan.buckets:
            picked = grads if bucket.index is None else [grads[i] for i in bucket.index]
            if bucket.regularize:
                pairs = self.append_regularization_ops(list(zip(bucket.params, picked)), self.regularization)
                picked = [g for _, g in pairs]
            self._launch(bucket, picked, lr * bucket.lr_scale)

    def _create_accumulators(self, block, parameters) -> None:
        for param in parameters:
            if self._uses_master(param):
                self._create_master_weight(param)
            self._states(param)
