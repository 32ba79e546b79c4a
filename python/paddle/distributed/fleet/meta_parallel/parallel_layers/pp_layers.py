"""PipelineLayer: a model as a list of layers, of which each rank makes those of its stage."""

from __future__ import annotations

from paddle import nn

from ....communication.group import new_group
from ....communication.ops import all_reduce, broadcast
from ...base.topology import CommunicateTopology, latest
from .segment import SegmentLayers

__all__ = ["LayerDesc", "PipelineLayer", "SharedLayerDesc"]


class LayerDesc:
    """A layer to be made later: ``layer_func(*inputs, **kwargs)``."""

    def __init__(self, layer_func_or_spec, *inputs, **kwargs) -> None:
        if not (isinstance(layer_func_or_spec, type) and issubclass(layer_func_or_spec, nn.Layer)):
            raise TypeError("The input(layer_func) should be a derived class of Layer.")
        self.layer_func, self.inputs, self.kwargs = layer_func_or_spec, inputs, kwargs

    def build_layer(self, **extra_kwargs):
        return self.layer_func(*self.inputs, **self.kwargs, **extra_kwargs)

    def __repr__(self) -> str:
        arguments = [repr(a) for a in self.inputs] + [f"{k}={v!r}" for k, v in self.kwargs.items()]
        return f"{self.layer_func.__name__}({', '.join(arguments)})"


class SharedLayerDesc(LayerDesc):
    """A layer that shares a weight with all others of the same ``key``, also on other stages.

    Args:
        forward_func: ``forward_func(layer, input)`` in place of the layer's forward.
        shared_weight_attr: the weight's name (or names) in the layer.
    """

    def __init__(self, key, layer_func, forward_func=None, shared_weight_attr="weight", *inputs, **kwargs) -> None:
        super().__init__(layer_func, *inputs, **kwargs)
        self.layer_name, self.forward_func, self.shared_weight_attr = key, forward_func, shared_weight_attr

    @property
    def weight_names(self) -> list:
        names = self.shared_weight_attr
        return [names] if isinstance(names, str) else list(names)


class LocalSharedLayerDesc(SharedLayerDesc):
    """A SharedLayerDesc whose sharers are all on one stage."""


class PipelineLayer(nn.Layer):
    """A model in stages: the consecutive parts of a list of layers.

    Args:
        layers: LayerDesc, SharedLayerDesc, layers or functions; each takes what the one before returns.
        num_stages: how many stages; or ``topology``, whose axis "pipe" says.
        loss_fn: ``loss_fn(output, label)``, on the last stage.
        seg_method: how the list is cut: "uniform", "layer:<name>" or first indices.
        recompute_interval: of so many layers intermediate tensors are not kept but computed again in backward; 0: all are kept.
        recompute_ctx: keywords of recompute: ``preserve_rng_state``.
        num_virtual_pipeline_stages: how many parts of the list, far from each other, each stage has (an interleaved pipeline).

    Raises:
        ValueError: the list can't be cut so. NotImplementedError: use_dualpipev.
    """

    def __init__(self, layers, num_stages=None, topology=None, loss_fn=None, seg_method="uniform", recompute_interval=0,
                 recompute_ctx=None, num_virtual_pipeline_stages=None, use_cudagraph=False, use_dualpipev=False) -> None:  # fmt: skip
        super().__init__()
        if use_dualpipev:
            raise NotImplementedError("[PipelineLayer] use_dualpipev is not supported")
        self._num_chunks = num_virtual_pipeline_stages or 1
        if num_stages is None and topology is None:
            raise ValueError("should provide num_stages or topology")
        self._hcg = latest()
        if topology is None:
            topology = (
                self._hcg.topology()
                if self._hcg
                else CommunicateTopology(["data", "pipe", "model"], [1, num_stages, 1])
            )
        self._topo = topology
        self._num_stages = topology.get_dim("pipe") if num_stages is None else num_stages
        self._stage_id = self._hcg.get_stage_id() if self._hcg and self._num_stages > 1 else 0
        self._layers_desc, self._loss_fn = list(layers), loss_fn
        self._recompute_interval, self._recompute_ctx = recompute_interval, dict(recompute_ctx or {})
        self.segment_parts = SegmentLayers(
            self._layers_desc, self._num_stages * self._num_chunks, seg_method
        ).do_segment()
        self.shared_layers = nn.LayerDict()
        self.run_function: list = []
        self._positions: list = []  # of each function in the whole list
        self._chunks: list = []  # first and last + 1 of each chunk's functions
        for chunk in range(self._num_chunks):
            part = chunk * self._num_stages + self._stage_id
            self._build(*self.segment_parts[part : part + 2])
        self._shared = self._share_weights()

    # -- making this stage
    def _build(self, first, end) -> None:
        self._chunks.append((len(self._positions), len(self._positions) + end - first))
        for index in range(first, end):
            self._positions.append(index)
            desc = self._layers_desc[index]
            if isinstance(desc, SharedLayerDesc):
                if desc.layer_name not in self.shared_layers:
                    self.shared_layers[desc.layer_name] = desc.build_layer()
                layer = self.shared_layers[desc.layer_name]
                self.run_function.append(_Bound(desc.forward_func, layer) if desc.forward_func else layer)
                continue
            made = desc.build_layer() if isinstance(desc, LayerDesc) else desc
            if isinstance(made, nn.Layer):
                self.add_sublayer(str(index), made)
            self.run_function.append(made)

    def get_stage_from_index(self, layer_idx) -> int:
        """The stage that a place of the list belongs to."""
        if not 0 <= layer_idx < len(self._layers_desc):
            raise ValueError(f"[PipelineLayer] expected an index in [0, {len(self._layers_desc)}), got {layer_idx}")
        parts = self._num_stages * self._num_chunks
        return next(i for i in range(parts) if layer_idx < self.segment_parts[i + 1]) % self._num_stages

    def get_num_virtual_stages(self) -> int:
        """How many parts of the list a stage has."""
        return self._num_chunks

    def get_model_chunks(self):
        """The functions of each of this stage's parts; None where it has one."""
        return None if self._num_chunks == 1 else [self.run_function[a:b] for a, b in self._chunks]

    # -- weights that several stages share
    def _share_weights(self) -> dict:
        """The group of the stages that have a key, by key, for those of this stage; their weights become alike."""
        stages: dict = {}
        for index, desc in enumerate(self._layers_desc):
            if isinstance(desc, SharedLayerDesc):
                stages.setdefault(desc.layer_name, (set(), desc))[0].add(self.get_stage_from_index(index))
        shared: dict = {}
        for key, (members, desc) in sorted(stages.items()):
            if len(members) == 1 or self._hcg is None:
                continue
            for pipe in self._topo.get_comm_list("pipe"):
                ranks = [pipe[s] for s in sorted(members)]
                group = new_group(ranks)
                if self._hcg.get_global_rank() in ranks:
                    shared[key] = (group, desc.weight_names)
        for key, (group, names) in shared.items():
            for name in names:
                weight = getattr(self.shared_layers[key], name)
                broadcast(weight.detach(), group.ranks[0], group)
                weight.is_firstly_shared = group.rank == 0
        return shared

    def allreduce_shared_weight_gradients(self) -> None:
        """Sums the gradients of a shared weight over the stages that have it."""
        for key, (group, names) in self._shared.items():
            for name in names:
                weight = getattr(self.shared_layers[key], name)
                if weight.grad is not None:
                    all_reduce(weight.grad, group=group)

    # -- running it
    def forward(self, input, chunk_id=None):
        """This stage's part (``chunk_id``: which of its parts; None: all), from what the part before returned."""
        interval = self._recompute_interval
        first, end = self._chunks[chunk_id] if chunk_id is not None else (0, len(self.run_function))
        if interval <= 0 or not self.training:
            return self.forward_function(first, end)(input)
        from ...utils import recompute

        for start in range(first, end, interval):
            part = self.forward_function(start, min(start + interval, end))
            options = {k: v for k, v in self._recompute_ctx.items() if k == "preserve_rng_state"}
            input = recompute(part, *(input if isinstance(input, tuple) else (input,)), **options)
        return input

    def forward_function(self, start, end):
        """The functions of this stage from ``start`` to before ``end``, as one."""

        def run(*x):
            x = x[0] if len(x) == 1 else x
            for function in self.run_function[start:end]:
                x = function(x)
            return x

        return run

    # -- files: one for each layer, named by its place in the whole list
    def save_state_dict(self, path) -> None:
        """Writes this stage's layers into a folder."""
        import os

        import paddle

        os.makedirs(path, exist_ok=True)
        for offset, layer in enumerate(self.run_function):
            if hasattr(layer, "state_dict"):
                paddle.save(layer.state_dict(), self._file(path, offset))

    def set_state_dir(self, path) -> None:
        """Reads what :meth:`save_state_dict` wrote, perhaps in other stages."""
        import paddle

        for offset, layer in enumerate(self.run_function):
            if hasattr(layer, "set_state_dict"):
                layer.set_state_dict(paddle.load(self._file(path, offset)))

    def _file(self, folder, offset) -> str:
        import os

        rank = self._hcg.get_model_parallel_rank() if self._hcg else 0
        return os.path.join(folder, f"layer_{self._positions[offset]:0>4d}-tensor_{rank:0>2d}-model_states.pdparams")


class _Bound:
    """A shared layer called in its own way."""

    def __init__(self, function, layer) -> None:
        self._function, self._layer = function, layer

    def __call__(self, x):
        return self._function(self._layer, x)

    def state_dict(self):
        return self._layer.state_dict()

    def set_state_dict(self, state) -> None:
        self._layer.set_state_dict(state)
