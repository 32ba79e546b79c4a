"""Predictor: a program with its weights, prepared once; clones share both, and each thread takes one."""

from __future__ import annotations

import os

import numpy as np

from .._core import ir, to_tensor, trace, trim_memory
from ..base import core
from ..jit.formats import naming
from ..pir.program import Program
from .config import Config
from .types import DataType

__all__ = ["Predictor", "PredictorPool", "Tensor", "create_predictor"]


class Tensor:
    """A handle of an input or output."""

    def __init__(self, name: str, dtype, given: bool) -> None:
        self._name, self._wanted, self._given = name, dtype, given
        self._value = None
        self._shape = None

    def name(self) -> str:
        """The name of the input or output that this is a handle of."""
        return self._name

    def reshape(self, shape) -> None:
        """Says which shape the next ``copy_from_cpu`` brings."""
        self._shape = [int(n) for n in shape]

    def copy_from_cpu(self, data) -> None:
        """Copies an array into the input.

        Raises:
            TypeError: ``data`` is no array. ValueError: it has another number of elements than ``reshape`` said.
        """
        self._take(data, copy=True)

    def share_external_data(self, data) -> None:
        """As ``copy_from_cpu``, without a copy: the array or tensor must live and stay unchanged until ``run`` is over."""
        self._take(data, copy=False)

    def _take(self, data, copy: bool) -> None:
        if not self._given:
            raise ValueError(f"[inference] '{self._name}' is an output: nothing can be put there")
        if isinstance(data, core.Tensor):
            with trace.outside():
                self._value = core.clone(data) if copy else data.detach()
        elif isinstance(data, np.ndarray):
            array = np.array(data, copy=True) if copy else data
            self._value = to_tensor(array, None, core.current_place())
        else:
            raise TypeError(
                f"In copy_from_cpu, we only support numpy ndarray and list[str] data type, got {type(data)}"
            )
        if self._shape is not None and list(self._value.shape) != self._shape:
            if self._value.size != int(np.prod(self._shape)):
                raise ValueError(
                    f"[inference] '{self._name}' was reshaped to {self._shape}, got data of shape {list(self._value.shape)}"
                )
            self._value = self._value.reshape(self._shape)
        self._shape = None

    def copy_to_cpu(self):
        """A copy of the elements as an array.

        Raises:
            RuntimeError: there are none yet.
        """
        if self._value is None:
            raise RuntimeError(f"[inference] '{self._name}' has no value yet: call run() first")
        return np.array(self._value.numpy())

    def shape(self) -> list:
        """The sizes; [] before there are any."""
        return [] if self._value is None else list(self._value.shape)

    def type(self) -> DataType:
        """The dtype of what it holds, or before that of what the program expects."""
        return DataType.of(self._wanted if self._value is None else self._value.dtype)

    def lod(self) -> list:
        """An empty list: sequences of different lengths are padded."""
        return []

    def set_lod(self, lod) -> None:
        """Only an empty list can be set."""
        if lod:
            raise NotImplementedError("[inference] tensors have no levels of detail (LoD)")


class _Model:
    """What predictors share: the prepared program and its weights."""

    def __init__(self, config: Config) -> None:
        program = _program_of(config)
        passes = config.pass_builder().all_passes()
        if passes:
            from ..pir import PassManager

            manager = PassManager()
            for name in passes:
                manager.add_pass(name)
            manager.run(program)
        if not config.ir_optim():
            before = core_flags("use_cinn")
            set_core_flags("use_cinn", False)
        try:
            self.run = ir.prepare(program, program._fetched, True)
        finally:
            if not config.ir_optim():
                set_core_flags("use_cinn", before)
        if config._debug:
            print(self.run)
        known = {name: tensor for name, tensor, _ in program._captured()}
        self.parameters = [self._weight(n, known) for n in self.run.parameters]
        needed = {name: (name, shape, dtype) for name, shape, dtype in self.run.inputs}
        # Inputs that nothing depends on have handles too.
        self.inputs = [
            needed.get(t.name) or (t.name, [n if type(n) is int else -1 for n in t.shape], t.dtype)
            for t in program._inputs
        ]
        self.outputs = [(t.name, t.dtype) for t in program._fetched]
        self.threads = config.cpu_math_library_num_threads() if config._threads_set else None

    def __del__(self, trim=trim_memory, host=core.CPUPlace()) -> None:
        # A server that loads other models needs the memory: the allocator, too, lets go of it.
        self.__dict__.clear()
        trim(host)

    def _weight(self, name: str, known: dict):
        tensor = self.run.held(name)
        return known[name] if tensor is None else tensor


def core_flags(name: str):
    from ..framework.flags import get_flags

    return get_flags("FLAGS_" + name)["FLAGS_" + name]


def set_core_flags(name: str, value) -> None:
    from ..framework.flags import set_flags

    set_flags({"FLAGS_" + name: value})


def _files_of(config: Config) -> tuple:
    if config.prog_file():
        return config.prog_file(), config.params_file()
    folder = config.model_dir()
    if not folder:
        raise ValueError("[create_predictor] the Config names no program")
    if os.path.isdir(folder):
        programs = sorted(f for f in os.listdir(folder) if f.endswith((".json", ".pdmodel")) or f == "__model__")
        if len(programs) != 1:
            raise ValueError(f"[create_predictor] expected one program in '{folder}', got {programs}")
        program = os.path.join(folder, programs[0])
        return program, os.path.splitext(program)[0] + ".pdiparams"
    return folder + ".json", folder + ".pdiparams"


def _program_of(config: Config) -> Program:
    if config._buffers is not None:
        text, params = config._buffers
        text = text.decode() if isinstance(text, bytes) else text
        params = params.encode("latin-1") if isinstance(params, str) else params
    else:
        program_file, params_file = _files_of(config)
        if not os.path.exists(program_file):
            raise RuntimeError(f"[create_predictor] no program at '{program_file}'")
        if program_file.endswith(".pdmodel") or os.path.basename(program_file) == "__model__":
            raise ValueError(
                f"[create_predictor] '{program_file}' is a program of Paddle 2; convert it with official Paddle 3 "
                "(paddle.static.load_inference_model, then save_inference_model), which writes a .json"
            )
        text = ir.read_text(program_file)
        params = b""
        if params_file and os.path.exists(params_file):
            with open(params_file, "rb") as f:
                params = f.read()
    with naming("create_predictor", None if config._buffers is not None else f"{program_file}' with '{params_file}"):
        program = ir.from_json(text, params, Program)
    missing = [name for name, tensor, _ in program._captured() if ir.is_declared(tensor)]
    if missing:
        raise RuntimeError(
            f"[create_predictor] the program has parameters ({missing[0]}, ...), but there is no file of them"
        )
    return program


class Predictor:
    """Runs a program. One thread at a time; ``clone`` for another thread."""

    def __init__(self, config: Config) -> None:
        self._place = None
        if config._custom_device is not None:
            kind, index = config._custom_device
            if kind not in core.get_all_custom_device_type():
                raise RuntimeError(f"[create_predictor] no plugin brought a device '{kind}'")
            self._place = core.CustomPlace(kind, index)
        self._make(_Model(config))

    def _make(self, model: _Model) -> None:
        self._model = model
        self._inputs = {name: Tensor(name, dtype, True) for name, _, dtype in model.inputs}
        self._outputs = {name: Tensor(name, dtype, False) for name, dtype in model.outputs}
        self._hooks = {"input": [], "output": []}

    def clone(self, stream=None) -> Predictor:
        """A predictor with handles of its own that shares the program and the weights."""
        other = Predictor.__new__(Predictor)
        other._place = self._place
        other._make(self._model)
        return other

    def get_input_names(self) -> list:
        """Names of the program's inputs, in order."""
        return list(self._inputs)

    def get_output_names(self) -> list:
        """Names of the program's outputs, in order."""
        return list(self._outputs)

    def get_input_handle(self, name: str) -> Tensor:
        """Raises RuntimeError for a name that is none of the inputs'."""
        if name not in self._inputs:
            raise RuntimeError(f"[Predictor] no input is called '{name}'; there are {self.get_input_names()}")
        return self._inputs[name]

    def get_output_handle(self, name: str) -> Tensor:
        """Raises RuntimeError for a name that is none of the outputs'."""
        if name not in self._outputs:
            raise RuntimeError(f"[Predictor] no output is called '{name}'; there are {self.get_output_names()}")
        return self._outputs[name]

    def run(self, inputs=None):
        """Runs on what the input handles hold, or on a list of tensors in the order of the input names.

        Returns:
            None, or with ``inputs`` the list of outputs.

        Raises:
            RuntimeError: an input holds nothing. ValueError: an input's dtype or shape doesn't fit the program.
        """
        if inputs is not None:
            if len(inputs) != len(self._inputs):
                raise ValueError(f"[Predictor.run] the program has {len(self._inputs)} inputs, got {len(inputs)}")
            for handle, value in zip(self._inputs.values(), inputs):
                handle.share_external_data(value)
        fed = [self._checked(*wanted) for wanted in self._model.run.inputs]
        if self._model.threads is not None:
            core.set_num_threads(self._model.threads)
        outs, _, _ = self._model.run.run(fed, self._model.parameters, None)
        for handle, value in zip(self._outputs.values(), outs):
            handle._value = value
            for hook in self._hooks["output"]:
                hook(handle.name(), value)
        return None if inputs is None else outs

    def _checked(self, name: str, shape: list, dtype):
        value = self._inputs[name]._value
        if value is None:
            raise RuntimeError(f"[Predictor.run] the input '{name}' has no value: copy_from_cpu() to its handle first")
        if value.dtype != dtype:
            raise ValueError(f"[Predictor.run] expected dtype {dtype} for the input '{name}', got {value.dtype}")
        given = list(value.shape)
        if len(given) != len(shape) or any(w >= 0 and w != g for w, g in zip(shape, given)):
            raise ValueError(f"[Predictor.run] expected shape {shape} for the input '{name}', got {given}")
        for hook in self._hooks["input"]:
            hook(name, value)
        return value

    def register_input_hook(self, hook) -> None:
        """``hook(name, tensor)`` is called with each input of each run."""
        self._hooks["input"].append(hook)

    def register_output_hook(self, hook) -> None:
        """``hook(name, tensor)`` is called with each output of each run."""
        self._hooks["output"].append(hook)

    def clear_intermediate_tensor(self) -> None:
        """Nothing is kept between runs but what the outputs hold."""

    def try_shrink_memory(self) -> int:
        """Lets go of inputs and outputs; returns how many bytes that are."""
        freed = 0
        for handle in [*self._inputs.values(), *self._outputs.values()]:
            if handle._value is not None:
                freed += handle._value.size * handle._value.element_size()
                handle._value = None
        return freed


def create_predictor(config: Config) -> Predictor:
    """Loads and prepares the program that ``config`` names.

    Raises:
        TypeError: ``config`` is no Config.
        RuntimeError: its files are missing. ValueError: they are of Paddle 2, or don't fit each other.
    """
    if not isinstance(config, Config):
        raise TypeError(f"[create_predictor] expected a Config, got {type(config).__name__}")
    return Predictor(config)


class PredictorPool:
    """``size`` predictors that share a program; ``retrive(i)`` gives one."""

    def __init__(self, config: Config, size: int = 1) -> None:
        if size < 1:
            raise ValueError(f"[PredictorPool] expected at least one predictor, got {size}")
        first = create_predictor(config)
        self._all = [first] + [first.clone() for _ in range(size - 1)]

    def retrive(self, index: int) -> Predictor:
        """Predictor ``index`` of the pool."""
        return self._all[index]

    retrieve = retrive
