"""Config: which program to run, and on what.

Switches that a CPU can't follow behave as in official Paddle's build for CPUs: those for GPUs and other devices that ask
for nothing at once are accepted and change nothing; those that need an engine which isn't there raise.
"""

from __future__ import annotations

import os
import sys

from .types import PrecisionType

__all__ = ["Config", "XpuConfig"]


class XpuConfig:
    """Options of XPUs; kept, since there are none."""

    def __init__(self) -> None:
        self.device_id, self.l3_size, self.l3_autotune_size = 0, 0, 0
        self.conv_autotune_level = self.fc_autotune_level = 0
        self.gemm_compute_precision, self.transformer_softmax_optimize_level = 1, 0


def _unavailable(what: str, option: str):
    return RuntimeError(f"(PreconditionNotMet) To use {what}, please compile with {option} first.")


class Config:
    """Files of a program and how to run it.

    ``Config()``, ``Config(folder)`` or ``Config(program_file, params_file)``.

    Raises:
        TypeError: an argument is no str.
    """

    Precision = PrecisionType
    Float32, Int8, Half, Bfloat16 = (
        PrecisionType.Float32,
        PrecisionType.Int8,
        PrecisionType.Half,
        PrecisionType.Bfloat16,
    )

    def __init__(self, *files) -> None:
        self._model_dir = self._prog_file = self._params_file = ""
        self._buffers = None
        self._ir_optim, self._onednn, self._glog_disabled = True, True, False
        self._threads, self._threads_set = 1, False
        self._new_ir, self._new_executor, self._cinn = False, True, True
        self._memory_optim, self._profile, self._debug = False, False, False
        self._specify_input_name, self._feed_fetch_ops = False, False
        self._shape_range_path, self._cache_dir, self._level = "", "", 2
        self._custom_device = None
        self._bfloat16, self._int8 = False, False
        self._deleted, self._custom_passes, self._custom_only = [], [], False
        self._onednn_cache = 10
        self._xpu = XpuConfig()
        self._save_optimized = False
        if files:
            self.set_model(*files)

    # ---- files
    def set_model(self, *files) -> None:
        """A folder, or a program's file and its parameters' file.

        Raises:
            TypeError: other arguments.
        """
        if not all(isinstance(f, (str, os.PathLike)) for f in files) or len(files) not in (1, 2):
            raise TypeError(f"[Config] expected a folder, or a program file and a parameters file, got {files}")
        if len(files) == 1:
            self._model_dir = os.fspath(files[0])
        else:
            self._prog_file, self._params_file = (os.fspath(f) for f in files)

    def set_prog_file(self, path: str) -> None:
        """The file of the program: `.json`, or `.pdmodel`."""
        self._prog_file = path

    def set_params_file(self, path: str) -> None:
        """The file of the parameters."""
        self._params_file = path

    def set_model_buffer(self, program, program_size: int, params, params_size: int) -> None:
        """The files' contents instead of their names."""
        self._buffers = (program[:program_size], params[:params_size])

    def model_dir(self) -> str:
        """The folder of the model; empty if files were named."""
        return self._model_dir

    def prog_file(self) -> str:
        """The program's file."""
        return self._prog_file

    def params_file(self) -> str:
        """The parameters' file."""
        return self._params_file

    def model_from_memory(self) -> bool:
        """Whether the model was given as bytes."""
        return self._buffers is not None

    # ---- this machine
    def set_cpu_math_library_num_threads(self, count: int) -> None:
        """Threads that one operator may use. Not set: as many as the process may."""
        self._threads, self._threads_set = int(count), True

    def cpu_math_library_num_threads(self) -> int:
        """How many threads a run uses on the CPU."""
        return self._threads

    def switch_ir_optim(self, x: bool = True) -> None:
        """Off: the program runs operator by operator, without fusion."""
        self._ir_optim = bool(x)

    def ir_optim(self) -> bool:
        """Whether programs are optimised before they run."""
        return self._ir_optim

    def switch_ir_debug(self, x: bool = True, passes=()) -> None:
        """Prints the program once it is prepared."""
        self._debug = bool(x)

    def set_optimization_level(self, opt_level: int = 2) -> None:
        """0: programs run as they were saved; above: they are optimised."""
        self._level = opt_level

    def enable_memory_optim(self, x: bool = True) -> None:
        """Memory is always reused; kept for ``summary``."""
        self._memory_optim = bool(x)

    def enable_cinn(self) -> None:
        """Fusion and compilation, which is on unless ``switch_ir_optim(False)``."""
        self._cinn = True

    def enable_profile(self) -> None:
        """Accepted: `paddle.profiler` records runs."""
        self._profile = True

    def disable_glog_info(self) -> None:
        """Nothing is logged anyway."""
        self._glog_disabled = True

    def glog_info_disabled(self) -> bool:
        """Whether messages are off."""
        return self._glog_disabled

    def enable_new_ir(self, x: bool = True) -> None:
        """Programs are always PIR."""
        self._new_ir = bool(x)

    def new_ir_enabled(self) -> bool:
        """Whether programs are PIR: always."""
        return self._new_ir

    def enable_new_executor(self, x: bool = True) -> None:
        """Accepted: there is one executor."""
        self._new_executor = bool(x)

    def switch_use_feed_fetch_ops(self, x: bool = True) -> None:
        """Inputs and outputs are always handles."""

    def use_feed_fetch_ops_enabled(self) -> bool:
        """Whether inputs are fed by operators."""
        return False

    def switch_specify_input_names(self, x: bool = True) -> None:
        """Accepted: inputs have names always."""
        self._specify_input_name = bool(x)

    def specify_input_name(self) -> bool:
        """Whether inputs are known by name."""
        return self._specify_input_name

    def set_optim_cache_dir(self, path: str) -> None:
        """Kept; compiled code has its own cache."""
        self._cache_dir = path

    def enable_save_optim_model(self, save_optimized_model: bool = False) -> None:
        """Accepted: whether the optimised program is to be written."""
        self._save_optimized = bool(save_optimized_model)

    def use_optimized_model(self, x: bool = False) -> None:
        """Programs are prepared in milliseconds: there is nothing saved to use."""

    def collect_shape_range_info(self, path: str) -> None:
        """Kept: shapes are needed by no engine here."""
        self._shape_range_path = path

    def shape_range_info_collected(self) -> bool:
        """Whether ranges of shapes are collected."""
        return bool(self._shape_range_path)

    def shape_range_info_path(self) -> str:
        """The file that ranges of shapes go to."""
        return self._shape_range_path

    # ---- passes
    def delete_pass(self, name: str) -> None:
        """A pass of the user's (``enable_custom_passes``) of that name isn't run; ours have no switch each."""
        self._deleted.append(name)

    def enable_custom_passes(self, passes=(), custom_pass_only: bool = False) -> None:
        """Passes by name (``paddle.pir.register_pass``) that run on the program before all others."""
        self._custom_passes, self._custom_only = list(passes), bool(custom_pass_only)

    def pass_builder(self) -> _PassBuilder:
        """The passes that will run, to be edited."""
        return _PassBuilder(self)

    # ---- oneDNN
    def enable_onednn(self) -> None:
        """oneDNN serves products and convolutions: it does so anyway."""
        self._onednn = True

    def disable_onednn(self) -> None:
        """Kept for ``onednn_enabled``: products and convolutions have no other kernels."""
        self._onednn = False

    def onednn_enabled(self) -> bool:
        """Whether oneDNN is used."""
        return self._onednn

    def set_onednn_cache_capacity(self, capacity: int = 0) -> None:
        """Accepted: the cache needs no limit."""
        self._onednn_cache = capacity

    def set_onednn_op(self, names) -> None:
        """Kept: which operators use oneDNN follows from their records."""

    def enable_onednn_bfloat16(self) -> None:
        """Kept: a program computes in the types that it was saved with."""
        self._bfloat16 = True

    def set_bfloat16_op(self, names) -> None:
        """See ``enable_onednn_bfloat16``."""

    def enable_onednn_int8(self, onednn_int8_enabled_op_types=()) -> None:
        """Kept: a program computes in the types that it was saved with."""
        self._int8 = True

    def onednn_int8_enabled(self) -> bool:
        """Whether products may run in int8."""
        return self._int8

    def disable_onednn_fc_passes(self) -> None:
        """There are none."""

    enable_mkldnn, disable_mkldnn, mkldnn_enabled = enable_onednn, disable_onednn, onednn_enabled
    set_mkldnn_cache_capacity, set_mkldnn_op = set_onednn_cache_capacity, set_onednn_op
    enable_mkldnn_bfloat16, enable_mkldnn_int8 = enable_onednn_bfloat16, enable_onednn_int8
    mkldnn_int8_enabled, disable_mkldnn_fc_passes = onednn_int8_enabled, disable_onednn_fc_passes

    # ---- devices that are not there
    def enable_use_gpu(self, memory_pool_init_size_mb=100, device_id=0, precision_mode=PrecisionType.Float32) -> None:
        """Says that there is no GPU, and goes on with the CPU."""
        print("[Config.enable_use_gpu] this build of paddle has no CUDA devices: the CPU is used", file=sys.stderr)

    def disable_gpu(self) -> None:
        """The CPU is used anyway."""

    def use_gpu(self) -> bool:
        """Whether a GPU runs the program."""
        return False

    def gpu_device_id(self) -> int:
        """The GPU's number."""
        return 0

    def memory_pool_init_size_mb(self) -> int:
        """The memory that is taken from a GPU first, in MiB."""
        return 100

    def fraction_of_gpu_memory_for_pool(self) -> float:
        """That memory as a share of all."""
        return 0.0

    def enable_low_precision_io(self, x: bool = True) -> None:
        """For GPUs."""

    def exp_enable_use_cutlass(self) -> None:
        """For GPUs."""

    def exp_disable_mixed_precision_ops(self, names) -> None:
        """For GPUs."""

    exp_enable_mixed_precision_ops = exp_disable_mixed_precision_ops

    def exp_sparse_conv_using_buffer(self, kernels, strides) -> None:
        """For GPUs."""

    def enable_custom_device(self, device_type: str, device_id: int = 0, precision=PrecisionType.Float32) -> None:
        """Runs on a device that a plugin brought.

        Raises:
            RuntimeError: when the predictor is made, if there is no such device.
        """
        self._custom_device = (device_type, device_id)

    def enable_xpu(self, *args, **kwargs) -> None:
        """Raises RuntimeError: there are no XPUs."""
        raise RuntimeError("To use XPU inference, please compile with option 'WITH_XPU' or 'LITE_WITH_XPU' first.")

    def use_xpu(self) -> bool:
        """Whether an XPU runs the program."""
        return False

    def xpu_device_id(self) -> int:
        """The XPU's number."""
        return self._xpu.device_id

    def set_xpu_device_id(self, device_id: int = 0) -> None:
        """Which XPU to use."""
        self._xpu.device_id = device_id

    def xpu_config(self) -> XpuConfig:
        """The XPU's options."""
        return self._xpu

    def set_xpu_config(self, config: XpuConfig) -> None:
        """Sets the XPU's options."""
        self._xpu = config

    def enable_ipu(self, *args, **kwargs) -> None:
        """Raises RuntimeError: there are no IPUs."""
        raise _unavailable("IPU", "WITH_IPU")

    set_ipu_config = set_ipu_custom_info = load_ipu_config = enable_ipu

    # ---- engines that are not there
    def enable_tensorrt_engine(self, *args, **kwargs) -> None:
        """Raises RuntimeError: there is no TensorRT."""
        raise _unavailable("Paddle-TensorRT", "TENSORRT")

    def tensorrt_engine_enabled(self) -> bool:
        """Whether TensorRT is used: never."""
        return False

    tensorrt_dla_enabled = tensorrt_dynamic_shape_enabled = tensorrt_explicit_quantization_enabled = (
        tensorrt_engine_enabled
    )
    tensorrt_inspector_enabled = tensorrt_varseqlen_enabled = tuned_tensorrt_dynamic_shape = tensorrt_engine_enabled
    trt_allow_build_at_runtime = onnxruntime_enabled = openvino_engine_enabled = tensorrt_engine_enabled

    def tensorrt_precision_mode(self) -> PrecisionType:
        """TensorRT's precision."""
        return PrecisionType.Float32

    def tensorrt_optimization_level(self) -> int:
        """TensorRT's level of optimisation."""
        return 3

    def _for_tensorrt(self, *args, **kwargs) -> None:
        """Says something to TensorRT, which is not there to listen."""

    set_trt_dynamic_shape_info = enable_tuned_tensorrt_dynamic_shape = set_tensorrt_optimization_level = _for_tensorrt
    enable_tensorrt_dla = enable_tensorrt_explicit_quantization = enable_tensorrt_inspector = _for_tensorrt
    enable_tensorrt_memory_optim = enable_tensorrt_varseqlen = mark_trt_engine_outputs = _for_tensorrt
    exp_disable_tensorrt_ops = exp_disable_tensorrt_subgraph = exp_disable_tensorrt_dynamic_shape_ops = _for_tensorrt
    exp_specify_tensorrt_subgraph_precision = _for_tensorrt

    def enable_onnxruntime(self) -> None:
        """Says that there is no ONNX Runtime, and goes on without."""
        print("[Config.enable_onnxruntime] there is no ONNX Runtime: programs run here", file=sys.stderr)

    def disable_onnxruntime(self) -> None:
        """There is none."""

    enable_ort_optimization = disable_onnxruntime

    def enable_openvino_engine(self, inference_precision=PrecisionType.Float32) -> None:
        """Raises RuntimeError: there is no OpenVINO."""
        raise _unavailable("OpenVINO", "OPENVINO")

    # ---- all at once
    def _options(self) -> list:
        return [
            ("model_file", self._prog_file or self._model_dir),
            ("params_file", self._params_file),
            ("cpu_math_thread", self._threads),
            ("enable_mkldnn", self._onednn),
            ("use_gpu", False),
            ("use_xpu", False),
            ("use_cinn_compiler", self._cinn and self._ir_optim),
            ("ir_optim", self._ir_optim),
            ("ir_debug", self._debug),
            ("memory_optim", self._memory_optim),
            ("enable_profile", self._profile),
            ("enable_log", not self._glog_disabled),
            ("collect_shape_range_info", self._shape_range_path),
        ]

    def summary(self) -> str:
        """A table of the options."""
        rows = [(k, str(v).lower() if isinstance(v, bool) else str(v)) for k, v in self._options()]
        left = max(len(k) for k, _ in [*rows, ("Option", "")])
        right = max(len(v) for _, v in [*rows, ("", "Value")])
        line = f"+{'-' * (left + 2)}+{'-' * (right + 2)}+"
        body = [f"| {k:<{left}} | {v:<{right}} |" for k, v in rows]
        return "\n".join([line, f"| {'Option':<{left}} | {'Value':<{right}} |", line, *body, line])


class _PassBuilder:
    """The passes of the user's that a Config names."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def append_pass(self, name: str) -> None:
        self._config._custom_passes.append(name)

    def insert_pass(self, index: int, name: str) -> None:
        self._config._custom_passes.insert(index, name)

    def delete_pass(self, name) -> None:
        if isinstance(name, int):
            del self._config._custom_passes[name]
        else:
            self._config.delete_pass(name)

    def all_passes(self) -> list:
        return [p for p in self._config._custom_passes if p not in self._config._deleted]
