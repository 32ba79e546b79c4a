"""What ``paddle.Model`` does with a batch in dynamic mode."""

from __future__ import annotations

import warnings

import numpy as np
import paddle

from ..static.input_spec import InputSpec

__all__ = []


def to_list(value) -> list:
    """Lists and tuples as a list, None as an empty one, anything else alone in one."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _tensors(values) -> list:
    return [v if isinstance(v, paddle.Tensor) else paddle.to_tensor(v) for v in to_list(values)]


def _arrays(values) -> list:
    return [v.numpy() if isinstance(v, paddle.Tensor) else np.asarray(v) for v in to_list(values)]


class DynamicSteps:
    """Trains, evaluates and predicts a batch at a time with the model's network, loss, optimizer and metrics."""

    def __init__(self, model) -> None:
        self.model = model
        self.merged = {"eval": 0, "predict": 0}  # samples of an epoch that several ranks have seen together
        self._last_count = dict(self.merged)
        self._parallel = None
        self._seen: list = []  # (shape, dtype) of the inputs of the last batch

    def prepare(self) -> None:
        """Called when loss, optimizer and metrics are known."""
        if paddle.distributed.get_world_size() > 1 and self._parallel is None:
            self._parallel = paddle.DataParallel(self.model.network)

    def _run(self, inputs):
        model = self.model
        network = model.network if self._parallel is None else self._parallel
        with paddle.amp.auto_cast(enable=model._amp_level != "O0", level=_cast_level(model), **model._amp_lists):
            if isinstance(inputs, dict):
                return network(**{k: _tensors(v)[0] for k, v in inputs.items()})
            tensors = _tensors(inputs)
            self._seen = [(t.shape, t.dtype) for t in tensors]
            return network(*tensors)

    def _losses(self, outputs, labels) -> list:
        model = self.model
        with paddle.amp.auto_cast(enable=model._amp_level != "O0", level=_cast_level(model), **model._amp_lists):
            return to_list(model._loss(*to_list(outputs), *labels))

    def _metrics(self, outputs, labels) -> list:
        return [m.update(*_arrays(m.compute(*to_list(outputs), *labels))) for m in self.model._metrics]

    def train_batch(self, inputs, labels=None, update=True):
        """Forward, backward and, where `update` says so, a step of the optimizer: losses, or (losses, metrics)."""
        model = self.model
        if model._optimizer is None:
            raise AssertionError("model not ready, please call `model.prepare()` first")
        model.network.train()
        labels = _tensors(labels)
        outputs = self._run(inputs)
        losses = self._losses(outputs, labels)
        total = losses[0] if len(losses) == 1 else paddle.add_n(losses)
        if model._scaler is None:
            total.backward()
            if update:
                model._optimizer.step()
                model._optimizer.clear_grad()
        else:
            scaled = model._scaler.scale(total)
            scaled.backward()
            if update:
                model._scaler.minimize(model._optimizer, scaled)
                model._optimizer.clear_grad()
        metrics = self._metrics(outputs, labels)
        return (_arrays(losses), metrics) if metrics else _arrays(losses)

    @paddle.no_grad()
    def eval_batch(self, inputs, labels=None):
        """Losses, (losses, metrics) or, without a loss, metrics."""
        model = self.model
        model.network.eval()
        labels = _tensors(labels)
        outputs = self._run(inputs)
        losses = self._losses(outputs, labels) if model._loss is not None else []
        if self._parallel is not None:
            outputs, labels = self._gathered("eval", to_list(outputs), labels)
        metrics = self._metrics(outputs, labels)
        if losses and metrics:
            return _arrays(losses), metrics
        return _arrays(losses) if losses else metrics

    @paddle.no_grad()
    def predict_batch(self, inputs) -> list:
        """The network's outputs as arrays."""
        self.model.network.eval()
        outputs = to_list(self._run(inputs))
        if self._parallel is not None:
            outputs, _ = self._gathered("predict", outputs, [])
        return _arrays(outputs)

    def _gathered(self, mode, outputs, labels):
        """Of all ranks, without the samples that fill the last batch up."""
        whole = [self._of_all(t) for t in (*outputs, *labels)]
        rows, loader = whole[0].shape[0], self.model._test_dataloader
        if loader is not None and hasattr(loader, "dataset") and hasattr(loader.dataset, "__len__"):
            left = len(loader.dataset) - self.merged[mode]
            if rows >= left > 0:
                whole, rows, self.merged[mode] = [t[:left] for t in whole], left, 0
            else:
                self.merged[mode] += rows
        self._last_count[mode] = rows
        return whole[: len(outputs)], whole[len(outputs) :]

    @staticmethod
    def _of_all(tensor):
        parts: list = []
        paddle.distributed.all_gather(parts, tensor)
        return paddle.concat(parts, axis=0)

    def samples(self, mode, batch_size: int) -> int:
        """How many samples the last batch had, those of all ranks."""
        if self._parallel is None:
            return batch_size
        if mode == "train":
            return batch_size * paddle.distributed.get_world_size()
        return self._last_count[mode]

    def save(self, path) -> None:
        """``path.pdparams`` and, where there is an optimizer with state, ``path.pdopt``."""
        paddle.save(self.model.network.state_dict(), path + ".pdparams")
        if self.model._optimizer is not None:
            state = self.model._optimizer.state_dict()
            if state:
                paddle.save(state, path + ".pdopt")

    def known_inputs(self) -> list:
        """The specs of the inputs: those that the model was given, or else what the last batch was like.

        Raises:
            RuntimeError: there was neither.
        """
        model = self.model
        if model._given is not None:
            return model._inputs
        if not self._seen:
            raise RuntimeError(
                "Saving inference model needs 'inputs' or running before saving. Please specify 'inputs' in Model "
                "initialization or input training data and perform a training for shape derivation."
            )
        return [InputSpec(shape, dtype, spec.name) for (shape, dtype), spec in zip(self._seen, model._inputs)]

    def save_program(self, path) -> None:
        """The network as a program for inference."""
        specs = self.known_inputs()
        if self.model._given is None:
            warnings.warn(
                "'inputs' was not specified when Model initialization, so the input shape to be saved will be the shape "
                f"derived from the user's actual inputs. The input shape to be saved is {[s.shape for s in specs]}. For "
                "saving correct input shapes, please provide 'inputs' for Model initialization."
            )
        paddle.jit.save(self.model.network, path, input_spec=specs)

    def load(self, pairs, optimizer_state) -> None:
        """`pairs` are (parameter, its array)."""
        for parameter, value in pairs:
            parameter.set_value(value)
        if self.model._optimizer is not None and optimizer_state is not None:
            self.model._optimizer.set_state_dict(optimizer_state)

    def parameters(self, *args, **kwargs) -> list:
        """Of the network."""
        return self.model.network.parameters(*args, **kwargs)


def _cast_level(model) -> str:
    return "O1" if model._amp_level == "O0" else model._amp_level
