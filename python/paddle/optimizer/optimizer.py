"""The base class: parameter groups, accumulators, state, and the order clip -> regularise -> update."""

from __future__ import annotations

from collections import defaultdict

from ..autograd.grad_mode import no_grad
from ..base import core, state, unique_name
from ..regularizer import L1Decay, L2Decay
from .accumulators import AccumulatorMixin
from .lr import LRScheduler


def _as_regularizer(weight_decay):
    if isinstance(weight_decay, (int, float)) and not isinstance(weight_decay, bool):
        return L2Decay(float(weight_decay))
    return weight_decay


class Optimizer(AccumulatorMixin):
    """Updates ``parameters`` from their gradients.

    Args:
        learning_rate: a float, or an ``LRScheduler`` that is asked at every step.
        parameters: tensors, or dicts with ``params`` and options of their own (``learning_rate`` scales the global one,
            ``weight_decay``, ``grad_clip`` and the subclass's hyper-parameters replace it).
        weight_decay: coefficient of an L2 penalty, or an ``L1Decay``/``L2Decay``. A regularizer set on a parameter
            wins.
        grad_clip: a ``paddle.nn.ClipGradBy*`` object, applied before regularisation.
        name: kept for callers; names of accumulators come from the parameters.

    Raises:
        TypeError: ``learning_rate`` is neither float nor scheduler; ``parameters`` is a tensor or a dict.
        AttributeError: ``parameters`` is None.
    """

    # Hyper-parameters that a parameter group may replace; subclasses list theirs.
    _group_options: tuple[str, ...] = ()

    def __init__(self, learning_rate, parameters=None, weight_decay=None, grad_clip=None, name=None) -> None:
        if parameters is None:
            parameters = state.maker.parameters_of(self)
        if isinstance(parameters, core.Tensor):
            raise TypeError("[Optimizer] parameters must be an iterable of tensors, got one Tensor")
        if isinstance(parameters, dict):
            raise TypeError("[Optimizer] parameters must be a list of tensors or of dicts, got a dict")
        if not isinstance(learning_rate, (float, LRScheduler)):
            raise TypeError(f"[Optimizer] learning rate must be float or LRScheduler, got {type(learning_rate)}")
        if grad_clip is not None and not hasattr(grad_clip, "_dygraph_clip") and not callable(grad_clip):
            raise TypeError("[Optimizer] 'grad_clip' should be an instance of GradientClipBase's derived class")
        self._name = name
        self._parameter_list = list(parameters)
        self.regularization = _as_regularizer(weight_decay)
        self._grad_clip = grad_clip
        self._learning_rate = learning_rate
        self._accumulators = defaultdict(dict)
        self._accumulators_holder = {}
        self._already_create_accumulator = set()
        self._opti_name_list = []
        self._master_weights = {}
        self._master_grads = {}
        self._master_grad = False
        self._multi_precision = getattr(self, "_multi_precision", False)
        self._use_multi_tensor = None
        self._param_device_map = {}
        self._auxiliary_vars = {}
        self._plans = {}
        self.helper = None
        self.clear_gradients = self.clear_grad
        self._default_dict = {"weight_decay": self.regularization, "grad_clip": self._grad_clip}
        self._param_groups = []
        self._dtype = None
        if self._parameter_list and isinstance(self._parameter_list[0], dict):
            for group in self._parameter_list:
                if "params" not in group:
                    raise AssertionError("[Optimizer] every parameter group needs the key 'params'")
                self._add_param_group(group.copy())
            self._dtype = next((p.dtype for g in self._param_groups for p in g["params"]), None)
        else:
            self._param_groups = self._parameter_list
            if self._parameter_list:
                self._dtype = self._parameter_list[0].dtype

    # ---- parameter groups -------------------------------------------------------------------------------------------
    def _add_param_group(self, group) -> None:
        params = group["params"]
        if isinstance(params, core.Tensor):
            group["params"] = [params]
        elif isinstance(params, set):
            raise TypeError("[Optimizer] a parameter group must be ordered: got a set, whose order is random")
        else:
            group["params"] = list(params)
        for key, value in self._default_dict.items():
            group.setdefault(key, value)
        seen = {id(p) for g in self._param_groups for p in g["params"]}
        if seen & {id(p) for p in group["params"]}:
            raise ValueError("[Optimizer] some parameters appear in more than one parameter group")
        decay = group.get("weight_decay", self.regularization)
        regularizer = _as_regularizer(decay) if isinstance(decay, (int, float)) else decay
        for p in group["params"]:
            if self._decay_is_regularizer and regularizer is not None:
                p.regularizer = regularizer
            p.optimize_attr["learning_rate"] = group.get("learning_rate", 1.0)
        self._param_groups.append(group)

    # AdamW's weight decay is decoupled from the gradient, so a group's value must not become a regularizer there.
    _decay_is_regularizer = True

    def _groups(self):
        """Pairs of (parameters, options); options is None where the optimizer has no parameter groups."""
        groups = self._param_groups
        if groups and isinstance(groups[0], dict):
            return [(g["params"], g) for g in groups]
        return [(groups, None)]

    def _update_param_group(self, parameters):
        """Takes a group's hyper-parameters as the current ones; returns the group's pairs."""
        for key in self._group_options:
            setattr(self, "_" + key, parameters.get(key, self._default_dict[key]))
        return parameters.get("params")

    # ---- learning rate ----------------------------------------------------------------------------------------------
    def get_lr(self) -> float:
        """The learning rate that the next step uses."""
        rate = self._learning_rate
        return rate if isinstance(rate, float) else rate()

    def set_lr(self, value: float) -> None:
        """Sets a constant learning rate.

        Raises:
            TypeError: ``value`` is not a number. RuntimeError: a scheduler is in charge.
        """
        if not isinstance(value, (int, float)):
            raise TypeError(f"The type of 'value' in optimizer.set_lr must be float, but received {type(value)}.")
        if isinstance(self._learning_rate, LRScheduler):
            raise RuntimeError(
                "optimizer's learning rate can't be LRScheduler when invoke this API, because this will lead to "
                "conflict."
            )
        self._learning_rate = float(value)

    def set_lr_scheduler(self, scheduler) -> None:
        """Puts a scheduler in charge of the learning rate."""
        if not isinstance(scheduler, LRScheduler):
            raise TypeError(
                f"The type of 'scheduler' in optimizer.set_lr_scheduler must be LRScheduler, but received "
                f"{type(scheduler)}."
            )
        self._learning_rate = scheduler

    def _global_learning_rate(self, program=None):
        return state.maker.learning_rate(self)

    def _create_param_lr(self, param_and_grad):
        param = param_and_grad[0]
        attr = getattr(param, "optimize_attr", None)
        rate = state.maker.learning_rate(self) * (attr["learning_rate"] if attr else 1.0)
        # A number takes the dtype of what it meets; a tensor must have it.
        if isinstance(rate, core.Tensor):
            rate = rate.astype(core.float32 if self._uses_master(param) else param.dtype)
        return rate

    # ---- the step ---------------------------------------------------------------------------------------------------
    def step(self) -> None:
        """Updates every parameter that has a gradient; parameters with ``stop_gradient`` are left alone."""
        was_enabled = core.grad_enabled()
        core.set_grad_enabled(False)
        try:
            for index, (params, options) in enumerate(self._groups()):
                grads = core.collect_grads(params)
                for grad in grads:
                    if grad is None:
                        live = [i for i, g in enumerate(grads) if g is not None]
                        params = [params[i] for i in live]
                        grads = [grads[i] for i in live]
                        break
                if grads:
                    self._update(params, grads, options, index)
        finally:
            core.set_grad_enabled(was_enabled)

    def _update(self, params, grads, options, index) -> None:
        """One group: clip, regularise, update. Fused optimizers replace ``_append_optimize``, not this."""
        if self._master_grad:
            grads = [g.astype("float32") for g in grads]
        clip = self._grad_clip if options is None else options.get("grad_clip", self._grad_clip)
        if clip is not None:
            pairs = clip(list(zip(params, grads)))
            params, grads = [p for p, _ in pairs], [g for _, g in pairs]
        if options is not None:
            self._update_param_group(options)
        self._append_optimize(params, grads, options, index)

    def _append_optimize(self, params, grads, options, index) -> None:
        """Updates one parameter after another through ``_append_optimize_op``, the hook of subclasses."""
        pairs = self.append_regularization_ops(list(zip(params, grads)), self.regularization)
        self._create_accumulators(None, params)
        for pair in pairs:
            self._append_optimize_op(None, pair)
        self._finish_update(None, pairs)

    def _append_optimize_op(self, block, param_and_grad):
        raise NotImplementedError(f"[{type(self).__name__}] must define _append_optimize_op")

    def _states(self, param):
        """Makes (at the first call) and returns what the optimiser keeps of a parameter."""

    def _create_accumulators(self, block, parameters) -> None:
        for param in parameters:
            self._states(param)

    def _finish_update(self, block, parameters_and_grads) -> None:
        pass

    def _apply_optimize(self, loss, startup_program, params_grads, param_group_idx=0):
        if isinstance(params_grads, dict):
            pairs, options = params_grads["params"], params_grads
        else:
            pairs, options = params_grads, None
        if not pairs:
            return []
        before = state.maker.update_operators(None)
        with state.maker.updating(startup_program), no_grad():
            self._update([p for p, _ in pairs], [g for _, g in pairs], options, param_group_idx)
        return state.maker.update_operators(before)

    def _target(self, param, grad, state):
        """(tensor to update: the master copy or the parameter itself, gradient in the dtype of ``state``)."""
        master = self._master_of(param)
        grad = grad if grad.dtype == state.dtype else grad.astype(state.dtype)
        return (param if master is None else master), grad

    def _subtract(self, param, target, delta) -> None:
        """``target -= delta``, and the parameter follows where it isn't the target or has a narrower dtype."""
        if target is not param:
            core.assign_(target, target - delta)
            core.assign_(param, target.astype(param.dtype))
        elif delta.dtype == param.dtype:
            core.assign_(param, param - delta)
        else:
            core.assign_(param, (param.astype(delta.dtype) - delta).astype(param.dtype))

    # ---- regularisation ---------------------------------------------------------------------------------------------
    def _regularizer_of(self, param, default):
        own = getattr(param, "regularizer", None)
        return default if own is None else own

    def _create_regularization_of_grad(self, param, grad, regularization=None):
        regularizer = self._regularizer_of(param, regularization)
        if grad is None or regularizer is None:
            return grad
        coefficient = getattr(regularizer, "_coeff", getattr(regularizer, "_regularization_coeff", 0.0))
        if coefficient == 0.0:
            return grad
        value = self._master_weights.get(param.name) if grad.dtype != param.dtype else None
        value = param if value is None else value
        if isinstance(regularizer, L1Decay):
            return grad + value.sign() * coefficient
        if isinstance(regularizer, L2Decay):
            return grad + value * coefficient
        return regularizer(param, grad, None)

    def append_regularization_ops(self, parameters_and_grads, regularization=None):
        """Adds the gradient of the penalty of each parameter to its gradient; returns new pairs."""
        with no_grad():
            return [(p, self._create_regularization_of_grad(p, g, regularization)) for p, g in parameters_and_grads]

    # ---- minimize and its parts -------------------------------------------------------------------------------------
    def backward(self, loss, startup_program=None, parameters=None, no_grad_set=None, callbacks=None):
        """Pairs of (parameter, gradient) for the parameters that have one. ``loss.backward()`` must have run."""
        return state.maker.gradients(self, loss, startup_program, parameters, no_grad_set)

    def apply_gradients(self, params_grads):
        """Updates parameters from the given pairs (clipped and regularised as in ``step``)."""
        pairs = sorted(params_grads, key=lambda pair: pair[0].name)
        return self._apply_optimize(None, None, [(p, g) for p, g in pairs if g is not None])

    def minimize(self, loss, startup_program=None, parameters=None, no_grad_set=None):
        """Updates the parameters from the gradients that ``loss.backward()`` left; in static mode appends the operators that
        compute the gradients and update.

        Returns:
            (operators, pairs): in dynamic mode there are no operators to return.
        """
        pairs = self.backward(loss, startup_program, parameters, no_grad_set)
        groups = self._param_groups
        operators = []
        if parameters or not (groups and isinstance(groups[0], dict)):
            operators = self._apply_optimize(loss, startup_program, pairs)
        else:
            self.step()
        return operators, pairs

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Zeroes the gradients (``set_to_zero``), or drops them."""
        for params, _ in self._groups():
            core.clear_gradients(params, set_to_zero)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """``clear_grad`` under the name, and with the opposite flag, that other frameworks use."""
        self.clear_grad(not set_to_none)

    # ---- state ------------------------------------------------------------------------------------------------------
    def state_dict(self) -> dict:
        """Accumulators by name, ``master_weights`` (by parameter name) if any, and ``LR_Scheduler``'s state.

        Empty before the first step, unless a state was set.
        """
        state = {}
        if not self._accumulators and self._accumulators_holder:
            state.update(self._accumulators_holder)
        else:
            for by_param in self._accumulators.values():
                for accumulator in by_param.values():
                    state[accumulator.name] = accumulator
        if self._master_weights:
            state["master_weights"] = self._master_weights
        if isinstance(self._learning_rate, LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict) -> None:
        """Loads what ``state_dict`` gave. Accumulators that don't exist yet take their values when they are made.

        Raises:
            AssertionError: an accumulator of this optimizer, or the scheduler's state, is missing.
        """
        state = dict(state_dict)
        scheduler_state = state.pop("LR_Scheduler", None)
        if isinstance(self._learning_rate, LRScheduler):
            if scheduler_state:
                self._learning_rate.set_state_dict(scheduler_state)
            elif not self._learning_rate._may_lack_state:
                raise AssertionError("[Optimizer] the state dict holds no LR_Scheduler state")
        masters = state.pop("master_weights", None)
        if masters is not None:
            self._load_master_weights(masters)
        self._accumulators_holder = state
        for by_param in self._accumulators.values():
            for accumulator in by_param.values():
                if accumulator.name not in state:
                    raise AssertionError(f"optimizer Tensor {accumulator.name} not found")
                core.set_value_(accumulator, state[accumulator.name])
        self._plans.clear()

    load_state_dict = set_state_dict

    # Official Paddle can lay all states out in one buffer to share it between processes. Here states stay apart; what
    # is asked about the buffer says that there is none.
    merged_model_params = None
    fused_buffer_version = 0
    fused_states_buffer = fused_states_buffer_ipc_meta = None
    fused_states_accumulators_meta = fused_states_master_weights_meta = None

    def set_merged_model_params(self, merged_model_params) -> None:
        """Keeps what a caller wants kept."""
        self.merged_model_params = merged_model_params

    def use_fusion_storage(self) -> None:
        """Not available.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("[Optimizer] states are not laid out in one shared buffer")

    def need_refuse(self) -> None:
        """Nothing to do: there is no shared buffer."""

    def reset_need_refuse(self) -> None:
        """Nothing to do: there is no shared buffer."""

    def get_opti_var_name_list(self) -> list[str]:
        """Names of the accumulators made so far."""
        return self._opti_name_list

    def _unique_name(self, key: str) -> str:
        return unique_name.generate(key)
