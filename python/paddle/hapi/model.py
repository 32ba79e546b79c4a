"""``paddle.Model``: a network with its loss, optimizer and metrics, trained on data sets."""

from __future__ import annotations

import inspect
import os
import warnings

import numpy as np
import paddle

from ..io import DataLoader, Dataset, DistributedBatchSampler
from ..metric import Metric
from ..static.input_spec import InputSpec
from ..utils import flatten
from .amp_options import amp_options
from .callbacks import EarlyStopping, config_callbacks
from .dynamic_steps import DynamicSteps, to_list

__all__ = []


class Model:
    """Trains, evaluates and runs a network.

    Args:
        network (nn.Layer): its ``forward`` takes the inputs of a batch.
        inputs (InputSpec | list | tuple | dict, optional): what the network takes; by default as many items of a batch as
            ``forward`` has arguments. Static mode needs it.
        labels (InputSpec | list | tuple, optional): what the loss takes beside the network's outputs.

    Raises:
        TypeError: static mode without `inputs`. ValueError: a spec without a name.
    """

    def __init__(self, network, inputs=None, labels=None) -> None:
        self.mode = "train"
        self.network = network
        self.stop_training = False
        self._loss = self._optimizer = self._scaler = self._test_dataloader = None
        self._metrics: list = []
        self._amp_level, self._amp_lists = "O0", {}
        self._given = inputs
        self._accumulate, self._left = 1, None
        self._inputs = self._specs(inputs, "inputs") if inputs is not None else _argument_specs(network)
        self._labels = self._specs(labels, "labels")
        self._steps = self._choose_steps()

    def _choose_steps(self):
        if paddle.in_dynamic_mode():
            return DynamicSteps(self)
        if not isinstance(self._given, (list, tuple, dict, InputSpec)):
            raise TypeError("'inputs' must be list or tuple or dict, and couldn't be None.")
        from .static_steps import StaticSteps

        return StaticSteps(self)

    @staticmethod
    def _specs(specs, what) -> list:
        found = list(specs.values()) if isinstance(specs, dict) else to_list(specs)
        for i, spec in enumerate(found):
            if not isinstance(spec, InputSpec):
                raise AssertionError(f"{what}[{i}] is not type of InputSpec")
            if spec.name is None:
                raise ValueError(f"Requires Input[{i}].name != None, but receive `None` with {spec}.")
        return found

    # -- one batch
    def train_batch(self, inputs, labels=None, update=True):
        """Trains on one batch.

        Args:
            inputs (array | Tensor | list | dict): what the network takes.
            labels (array | Tensor | list, optional): what the loss takes beside the outputs.
            update (bool): False only adds to the gradients.

        Returns:
            list: losses; with metrics a pair (losses, metrics).

        Raises:
            AssertionError: there is no optimizer.
        """
        return self._steps.train_batch(inputs, labels, update)

    def eval_batch(self, inputs, labels=None):
        """Evaluates one batch; the arguments are those of ``train_batch``.

        Returns:
            list: losses; with metrics a pair (losses, metrics).
        """
        return self._steps.eval_batch(inputs, labels)

    def predict_batch(self, inputs) -> list:
        """The network's outputs for one batch.

        Args:
            inputs (array | Tensor | list | dict): what the network takes.

        Returns:
            list of arrays.
        """
        return self._steps.predict_batch(inputs)

    # -- files
    def save(self, path, training=True) -> None:
        """Writes the model, on the first rank.

        Args:
            path (str): without a postfix.
            training (bool): True writes ``path.pdparams`` and ``path.pdopt``, to train on; False a program for inference
                (``jit.save``), whose inputs are those that the model was made with or has seen.

        Raises:
            ValueError: `path` has no file name. RuntimeError: a program without known inputs.
        """
        if paddle.distributed.get_rank() != 0:
            return
        if not os.path.basename(path):
            raise ValueError(f"[Model.save] expected a path with a file name, got {path!r}")
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        if training:
            self._steps.save(path)
        else:
            self._steps.save_program(path)

    def load(self, path, skip_mismatch=False, reset_optimizer=False) -> None:
        """Reads what ``save`` wrote.

        Args:
            path (str): with or without its postfix.
            skip_mismatch (bool): parameters that are missing or have another shape keep their value, with a warning.
            reset_optimizer (bool): the optimizer's state is not read.

        Raises:
            ValueError: a parameter is missing or has another shape. AssertionError: an unknown postfix, or no file.
        """
        stem, postfix = os.path.splitext(path)
        if postfix not in ("", ".pdparams", ".pdopt", ".pdmodel"):
            raise AssertionError(f"Unknown postfix {postfix} from weights")
        if not os.path.exists(stem + ".pdparams"):
            raise AssertionError(f"Failed to load parameters, please check path: there is no {stem}.pdparams.")
        values = paddle.load(stem + ".pdparams", return_numpy=True)
        pairs = []
        for name, parameter in self.network.state_dict().items():
            problem = _mismatch(name, parameter, values.get(name))
            if problem is None:
                pairs.append((parameter, values[name]))
            elif skip_mismatch:
                warnings.warn(f"Skip loading for {name}. {problem}")
            else:
                raise ValueError(problem)
        state = None
        if not reset_optimizer and os.path.exists(stem + ".pdopt"):
            state = paddle.load(stem + ".pdopt")
        self._steps.load(pairs, state)

    def parameters(self, *args, **kwargs) -> list:
        """The network's parameters.

        Returns:
            list of Parameter.
        """
        return self._steps.parameters(*args, **kwargs)

    # -- what it learns with
    def prepare(self, optimizer=None, loss=None, metrics=None, amp_configs=None) -> None:
        """Sets what ``fit`` and ``evaluate`` need.

        Args:
            optimizer (Optimizer, optional): for training.
            loss (callable, optional): of outputs and labels to a tensor or list of tensors, which are added up.
            metrics (Metric | list, optional): named numbers over batches.
            amp_configs (str | dict, optional): "O1", "O2", or {"level": ..., options of ``amp.auto_cast`` and
                ``amp.GradScaler``}.

        Raises:
            TypeError: `loss` can't be called. AssertionError: a metric is none. ValueError: an unknown option.
        """
        if loss is not None and not callable(loss):
            raise TypeError("'loss' must be sub classes of `paddle.nn.Layer` or any callable function.")
        metrics = to_list(metrics)
        for metric in metrics:
            if not isinstance(metric, Metric):
                raise AssertionError(f"{type(metric).__name__} is not sub class of Metric")
        self._optimizer, self._loss, self._metrics = optimizer, loss, metrics
        self._amp_level, self._amp_lists, self._scaler = amp_options(amp_configs)
        if self._amp_level == "O2" and optimizer is not None:
            paddle.amp.decorate(self.network, optimizer, "O2")
        self._steps.prepare()

    # -- many batches
    def fit(
        self, train_data=None, eval_data=None, batch_size=1, epochs=1, eval_freq=1, log_freq=10, save_dir=None,
        save_freq=1, verbose=2, drop_last=False, shuffle=True, num_workers=0, callbacks=None,
        accumulate_grad_batches=1, num_iters=None,
    ) -> None:  # fmt: skip
        """Trains.

        Args:
            train_data (Dataset | DataLoader): items are inputs, then labels.
            eval_data (Dataset | DataLoader, optional): evaluated after every `eval_freq` epochs.
            batch_size (int | pair): of training, and of evaluation.
            epochs (int): how often to go through the data.
            log_freq (int): batches between prints.
            save_dir (str, optional): where checkpoints go, every `save_freq` epochs.
            verbose (int): 0 is silent, 1 a progress bar, 2 a line for each print.
            drop_last (bool), shuffle (bool), num_workers (int): of the loader made for a Dataset.
            callbacks (Callback | list, optional): see ``paddle.callbacks``.
            accumulate_grad_batches (int): batches whose gradients add up before a step.
            num_iters (int, optional): batches after which training ends.

        Raises:
            AssertionError: no `train_data`, or `batch_size` is no pair.
        """
        if train_data is None:
            raise AssertionError("train_data must be given!")
        sizes = batch_size if isinstance(batch_size, (list, tuple)) else [batch_size] * 2
        if len(sizes) != 2:
            raise AssertionError("batch_size length error, expected train_batch_size and eval_batch_size.")
        loader = self._loader(train_data, sizes[0], num_workers, shuffle, drop_last)
        self._test_dataloader = None if eval_data is None else self._loader(eval_data, sizes[1], num_workers)
        steps = _length(loader)
        self._accumulate, self._left, self.stop_training = accumulate_grad_batches, num_iters, False
        if num_iters is not None and steps is not None:
            if num_iters <= 0:
                raise AssertionError("num_iters must be greater than 0!")
            epochs, steps = num_iters // steps + 1, min(num_iters, steps)
        group = config_callbacks(
            callbacks, model=self, epochs=epochs, steps=steps, log_freq=log_freq, save_freq=save_freq,
            save_dir=save_dir, verbose=verbose, metrics=self._metrics_name(),
        )  # fmt: skip
        if self._test_dataloader is None and any(isinstance(k, EarlyStopping) for k in group):
            warnings.warn("EarlyStopping needs validation data.")
        group.on_begin("train")
        logs: dict = {}
        for epoch in range(epochs):
            group.on_epoch_begin(epoch)
            logs, _ = self._run_epoch(loader, group, "train")
            group.on_epoch_end(epoch, logs)
            if self._test_dataloader is not None and epoch % eval_freq == 0:
                self._evaluate(group)
            if self.stop_training:
                break
        group.on_end("train", logs)
        self._test_dataloader = None

    def _evaluate(self, group) -> dict:
        group.on_begin("eval", {"steps": _length(self._test_dataloader), "metrics": self._metrics_name()})
        logs, _ = self._run_epoch(self._test_dataloader, group, "eval")
        group.on_end("eval", logs)
        return logs

    def evaluate(
        self, eval_data, batch_size=1, log_freq=10, verbose=2, num_workers=0, callbacks=None, num_iters=None
    ) -> dict:
        """Loss and metrics over data; the arguments are those of ``fit``.

        Returns:
            dict: name -> number ("loss" is the list of losses of the last batch).
        """
        self._test_dataloader = self._loader(eval_data, batch_size, num_workers)
        self._left = num_iters
        group = config_callbacks(
            callbacks, model=self, log_freq=log_freq, verbose=verbose, metrics=self._metrics_name()
        )
        logs = self._evaluate(group)
        self._test_dataloader = None
        return {name: logs[name] for name in self._metrics_name()}

    def predict(self, test_data, batch_size=1, num_workers=0, stack_outputs=False, verbose=1, callbacks=None) -> list:
        """The network's outputs over data.

        Args:
            test_data (Dataset | DataLoader): items are inputs; what follows them is not looked at.
            stack_outputs (bool): True joins the batches of each output.
            batch_size, num_workers, verbose, callbacks: as in ``fit``.

        Returns:
            list: for each output the tuple of its batches, arrays; or one array where they are stacked.
        """
        self._test_dataloader = self._loader(test_data, batch_size, num_workers)
        self._left = None
        group = config_callbacks(callbacks, model=self, verbose=verbose, metrics=None)
        group.on_begin("predict", {"steps": _length(self._test_dataloader)})
        logs, batches = self._run_epoch(self._test_dataloader, group, "predict")
        outputs = list(zip(*batches))
        if stack_outputs:
            outputs = [np.vstack(parts) for parts in outputs]
        self._test_dataloader = None
        group.on_end("predict", logs)
        return outputs

    def _run_epoch(self, loader, group, mode):
        """(logs of the last batch, outputs of all where it is a prediction)."""
        logs: dict = {}
        outputs: list = []
        total = _length(loader)
        for step, batch in enumerate(loader):
            data = flatten(batch)
            group.on_batch_begin(mode, step, logs)
            inputs, labels = data[: len(self._inputs)], data[len(self._inputs) :]
            if mode == "predict":
                outputs.append(self.predict_batch(inputs))
            else:
                update = [(step + 1) % self._accumulate == 0 or step + 1 == total] if mode == "train" else []
                result = getattr(self, mode + "_batch")(inputs, labels, *update)
                logs.update(zip(self._metrics_name(), self._values(result)))
            logs["step"] = step
            logs["batch_size"] = self._steps.samples(mode, _rows(data[0]))
            group.on_batch_end(mode, step, logs)
            if self._left is not None:
                self._left -= 1
                if self._left <= 0:
                    self.stop_training, self._left = True, None
                    break
        for metric in self._metrics:
            metric.reset()
        return logs, outputs

    def _values(self, result) -> list:
        """The losses of a batch, then every metric so far."""
        values = []
        if self._loss is not None:
            values.append([float(v) for v in (result[0] if self._metrics else result)])
        for metric in self._metrics:
            values.extend(to_list(metric.accumulate()))
        return values

    def _metrics_name(self) -> list:
        names = ["loss"] if self._loss is not None else []
        for metric in self._metrics:
            names.extend(to_list(metric.name()))
        return names

    @staticmethod
    def _loader(data, batch_size, num_workers, shuffle=False, drop_last=False):
        if not isinstance(data, Dataset):
            return data
        if isinstance(data, paddle.io.IterableDataset):
            return DataLoader(data, batch_size=batch_size, num_workers=num_workers, drop_last=drop_last)
        sampler = DistributedBatchSampler(data, batch_size=batch_size, shuffle=shuffle, drop_last=drop_last)
        return DataLoader(data, batch_sampler=sampler, num_workers=num_workers, return_list=True)

    def summary(self, input_size=None, dtype=None) -> dict:
        """Prints the network's layers, shapes and numbers of parameters.

        Args:
            input_size (tuple | InputSpec | list, optional): of the inputs; by default what the model was made with.
            dtype (str, optional): of the inputs, float32 by default.

        Returns:
            dict: "total_params" and "trainable_params".

        Raises:
            AssertionError: the inputs' sizes aren't known.
        """
        from .model_summary import summary

        if input_size is None:
            try:
                input_size = self._steps.known_inputs()
            except RuntimeError:
                raise AssertionError("'input_size' or 'self._input' must be set") from None
        return summary(self.network, input_size, dtypes=dtype)


def _argument_specs(network) -> list:
    """A spec of unknown shape for each argument of ``forward``."""
    names = [n for n, p in inspect.signature(network.forward).parameters.items() if p.kind is not p.VAR_KEYWORD]
    return [InputSpec([None], name=name) for name in names]


def _mismatch(name, parameter, value):
    """Why a parameter can't take a value of a file; None: it can."""
    if value is None:
        return f"{name} is not found in the providing file."
    if list(np.shape(value)) != list(parameter.shape):
        return f"{name} receives a shape {list(np.shape(value))}, but the expected shape is {list(parameter.shape)}."
    return None


def _length(loader):
    try:
        return len(loader)
    except (TypeError, ValueError, RuntimeError):  # of a stream
        return None


def _rows(value) -> int:
    shape = np.shape(value) if not isinstance(value, paddle.Tensor) else value.shape
    return shape[0] if len(shape) else 1
