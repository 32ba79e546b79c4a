"""Cutting a list of layers into stages."""

from __future__ import annotations

import re


class SegmentLayers:
    """Cuts layers into ``num_parts`` consecutive parts.

    Args:
        layers_desc: what a part is made of. num_parts: how many.
        method: "uniform"; "layer:<regex>", which counts only layers whose class's name matches; or the parts' first indices.
    """

    def __init__(self, layers_desc, num_parts, method="uniform", num_virtual_pipeline_stage=None) -> None:
        self._layers, self.num_parts, self.method = layers_desc, num_parts, method
        if len(layers_desc) < num_parts:
            raise ValueError(
                f"[PipelineLayer] expected at least {num_parts} layers for {num_parts} stages, got {len(layers_desc)}"
            )

    def do_segment(self) -> list:
        """``num_parts + 1`` indices: part i has the layers from the i-th to before the next."""
        if isinstance(self.method, (list, tuple)):
            return self._given(list(self.method))
        if self.method == "uniform":
            return self.uniform(len(self._layers), self.num_parts)
        if self.method.startswith("layer:"):
            return self._by_name(self.method.split(":", 1)[1])
        raise ValueError(
            f"[PipelineLayer] expected seg_method 'uniform', 'layer:<name>' or a list, got {self.method!r}"
        )

    def _given(self, starts) -> list:
        n = len(self._layers)
        starts = starts if starts[-1] == n else [*starts, n]
        if len(starts) != self.num_parts + 1 or starts[0] != 0 or any(a > b for a, b in zip(starts, starts[1:])):
            raise ValueError(
                f"[PipelineLayer] expected rising first indices of {self.num_parts} stages from 0, got {starts}"
            )
        return starts

    def _by_name(self, pattern) -> list:
        weights = [int(bool(re.search(pattern, _name_of(layer), re.IGNORECASE))) for layer in self._layers]
        total = sum(weights)
        if total == 0 or total % self.num_parts:
            raise ValueError(
                f"[PipelineLayer] expected a multiple of {self.num_parts} layers that match {pattern!r}, got {total}"
            )
        each, starts, seen = total // self.num_parts, [0], 0
        for i, weight in enumerate(weights):
            if weight and seen and seen % each == 0:
                starts.append(i)
            seen += weight
        return [*starts, len(self._layers)]

    @staticmethod
    def uniform(num_items, num_parts) -> list:
        """The last parts have one more where it does not go evenly."""
        size, more = divmod(num_items, num_parts)
        starts = [0]
        for i in range(num_parts):
            starts.append(starts[-1] + size + (i >= num_parts - more))
        return starts


def _name_of(layer) -> str:
    function = getattr(layer, "layer_func", layer)  # of a LayerDesc
    return getattr(function, "__name__", type(function).__name__)
