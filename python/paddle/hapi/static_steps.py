"""What ``paddle.Model`` does with a batch in static mode: a program for each of training, evaluation and prediction."""

from __future__ import annotations

import numpy as np
import paddle
from paddle import static

from .dynamic_steps import to_list

__all__ = []


class _Built:
    """One mode's program: what it is fed, and what is fetched of it."""

    def __init__(self, program, feeds, outputs, losses, metrics) -> None:
        self.program, self.feeds, self.outputs, self.losses, self.metrics = program, feeds, outputs, losses, metrics


class StaticSteps:
    """Trains, evaluates and predicts a batch at a time with programs; the interface is that of ``DynamicSteps``."""

    def __init__(self, model) -> None:
        self.model = model
        self._network_start = static.default_startup_program()
        self._executor = static.Executor()
        self._built: dict = {}
        self._initialised = False

    def prepare(self) -> None:
        """Called when loss, optimizer and metrics are known: programs made before no longer hold."""
        self._built = {}

    def _start(self, program) -> None:
        if not self._initialised:
            self._executor.run(self._network_start)
            self._initialised = True
        self._executor.run(program)

    def _program(self, mode) -> _Built:
        if mode not in self._built:
            self._built[mode] = self._build(mode)
        return self._built[mode]

    def _build(self, mode) -> _Built:
        model = self.model
        main, start = static.Program(), static.Program()
        with static.program_guard(main, start):
            (model.network.train if mode == "train" else model.network.eval)()
            inputs = [static.data(s.name, s.shape, s.dtype) for s in model._inputs]
            given = dict(zip(model._given, inputs)) if isinstance(model._given, dict) else None
            outputs = to_list(model.network(**given) if given is not None else model.network(*inputs))
            labels, losses, metrics = [], [], []
            if mode != "predict":
                labels = [static.data(s.name, s.shape, s.dtype) for s in model._labels]
                losses = to_list(model._loss(*outputs, *labels)) if model._loss is not None else []
                metrics = [to_list(m.compute(*outputs, *labels)) for m in model._metrics]
            if mode == "train":
                if model._optimizer is None:
                    raise AssertionError("model not ready, please call `model.prepare()` first")
                model._optimizer.minimize(losses[0] if len(losses) == 1 else paddle.add_n(losses))
        self._start(start)
        return _Built(main, [v.name for v in (*inputs, *labels)], outputs, losses, metrics)

    def _run(self, mode, inputs, labels):
        """(outputs, losses, metrics) of a batch, as arrays."""
        built = self._program(mode)
        inputs = list(inputs.values()) if isinstance(inputs, dict) else to_list(inputs)
        feed = {n: np.asarray(v) for n, v in zip(built.feeds, [*inputs, *to_list(labels)])}
        wanted = [*built.outputs, *built.losses, *(t for group in built.metrics for t in group)]
        found = iter(self._executor.run(built.program, feed=feed, fetch_list=wanted))
        outputs = [next(found) for _ in built.outputs]
        losses = [next(found) for _ in built.losses]
        metrics = [m.update(*[next(found) for _ in g]) for m, g in zip(self.model._metrics, built.metrics)]
        return outputs, losses, metrics

    def train_batch(self, inputs, labels=None, update=True):
        """A step of the optimizer: losses, or (losses, metrics).

        Raises:
            NotImplementedError: `update` is False; a program's step always updates.
        """
        if not update:
            raise NotImplementedError("[Model] gradients of several batches can't be added up in static mode")
        _, losses, metrics = self._run("train", inputs, labels)
        return (losses, metrics) if metrics else losses

    def eval_batch(self, inputs, labels=None):
        """Losses, (losses, metrics) or, without a loss, metrics."""
        _, losses, metrics = self._run("eval", inputs, labels)
        if losses and metrics:
            return losses, metrics
        return losses or metrics

    def predict_batch(self, inputs) -> list:
        """The network's outputs as arrays."""
        return self._run("predict", inputs, None)[0]

    def samples(self, mode, batch_size: int) -> int:
        """How many samples the last batch had."""
        return batch_size

    def known_inputs(self) -> list:
        """The specs of the inputs."""
        return self.model._inputs

    def save(self, path) -> None:
        """``path.pdparams``, and ``path.pdopt`` where the optimizer has state."""
        built = self._program("train" if self.model._optimizer is not None else "predict")
        names = {p.name: k for k, p in self.model.network.state_dict().items()}
        state = static.global_scope()
        values = {k: state.find_var(n).get_tensor() for n, k in names.items()}
        paddle.save({k: np.array(v) for k, v in values.items()}, path + ".pdparams")
        if self.model._optimizer is not None:
            rest = {n: v for n, v in built.program.state_dict("opt").items() if n not in names}
            if rest:
                paddle.save({n: np.array(v) for n, v in rest.items()}, path + ".pdopt")

    def save_program(self, path) -> None:
        """The network as a program for inference."""
        built = self._program("predict")
        block = built.program.global_block()
        static.save_inference_model(
            path, [block.var(n) for n in built.feeds], built.outputs, self._executor, program=built.program
        )

    def load(self, pairs, optimizer_state) -> None:
        """`pairs` are (parameter, its array)."""
        built = self._program("train" if self.model._optimizer is not None else "predict")
        for parameter, value in pairs:
            parameter.set_value(value)
        if optimizer_state:
            built.program.set_state_dict({n: np.array(v) for n, v in optimizer_state.items()})

    def parameters(self, *args, **kwargs) -> list:
        """Of the network."""
        return self.model.network.parameters(*args, **kwargs)
