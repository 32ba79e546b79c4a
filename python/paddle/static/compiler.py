"""CompiledProgram and the options that Paddle 2's compilers took. Programs are always compiled here."""

from __future__ import annotations

__all__ = [
    "BuildStrategy",
    "CompiledProgram",
    "ExecutionStrategy",
    "IpuCompiledProgram",
    "IpuStrategy",
    "ipu_shard_guard",
    "set_ipu_shard",
]


class BuildStrategy:
    """Options that are kept and asked for. What they ask for (fusion, reuse of memory) is always done here."""

    class ReduceStrategy:
        AllReduce, Reduce, _NoReduce = 0, 1, 2

    class GradientScaleStrategy:
        CoeffNumDevice, One, Customized = 0, 1, 2

    def __init__(self) -> None:
        self.build_cinn_pass = False
        self.debug_graphviz_path = ""
        self.enable_addto = False
        self.enable_auto_fusion = False
        self.enable_backward_optimizer_op_deps = True
        self.enable_inplace = True
        self.enable_sequential_execution = False
        self.fuse_adamw = False
        self.fuse_all_optimizer_ops = False
        self.fuse_all_reduce_ops = None
        self.fuse_bn_act_ops = False
        self.fuse_bn_add_act_ops = True
        self.fuse_broadcast_ops = None
        self.fuse_dot_product_attention = False
        self.fuse_elewise_add_act_ops = False
        self.fuse_gemm_epilogue = False
        self.fuse_relu_depthwise_conv = False
        self.fuse_resunit = False
        self.fused_attention = False
        self.fused_feedforward = False
        self.gradient_scale_strategy = self.GradientScaleStrategy.CoeffNumDevice
        self.memory_optimize = None
        self.num_trainers, self.trainer_id = 1, 0
        self.reduce_strategy = self.ReduceStrategy.AllReduce
        self.remove_unnecessary_lock = True
        self.sync_batch_norm = False
        self.trainers_endpoints = []


class ExecutionStrategy:
    """Options that are kept and asked for; threads are chosen by ``FLAGS`` and the operators."""

    class ExecutorType:
        Default, Experimental = 0, 1

    def __init__(self) -> None:
        self.num_threads = 0
        self.num_iteration_per_drop_scope = 100
        self.num_iteration_per_run = 1
        self.use_thread_barrier = False
        self.allow_op_delay = False


class CompiledProgram:
    """A program with a ``BuildStrategy``; the executor takes it like the program itself.

    Raises:
        TypeError: ``program_or_graph`` is no Program.
    """

    def __init__(self, program_or_graph, build_strategy: BuildStrategy | None = None) -> None:
        from ..pir.program import Program

        if not isinstance(program_or_graph, Program):
            raise TypeError(
                "The type of program_to_graph parameter is wrong, expected Graph or Program, but received "
                f"{type(program_or_graph)}"
            )
        self._program = program_or_graph
        self._build_strategy = build_strategy

    def with_data_parallel(
        self, loss_name=None, build_strategy=None, exec_strategy=None, share_vars_from=None, places=None
    ):
        """The program itself: this process has one device; use ``paddle.distributed`` for more."""
        self._build_strategy = build_strategy or self._build_strategy
        return self

    def __getattr__(self, name):
        return getattr(self.__dict__["_program"], name)


def _no_ipu(*args, **kwargs):
    """Raises ValueError: there are no IPU devices."""
    raise ValueError("Can not use this function since PaddlePaddle is not compiled with IPU")


class IpuStrategy:
    """Not available: there are no IPU devices."""

    def __init__(self) -> None:
        _no_ipu()


class IpuCompiledProgram:
    """Not available: there are no IPU devices."""

    def __init__(self, *args, **kwargs) -> None:
        _no_ipu()


ipu_shard_guard = set_ipu_shard = _no_ipu
