"""Learning on graphs: reductions of segments, messages along edges, sampling of neighbours."""

from .message_passing import send_u_recv, send_ue_recv, send_uv
from .sampling import reindex_graph, reindex_heter_graph, sample_neighbors, weighted_sample_neighbors
from .segments import segment_max, segment_mean, segment_min, segment_sum

__all__ = [
    "reindex_graph", "reindex_heter_graph", "sample_neighbors", "segment_max", "segment_mean", "segment_min",
    "segment_sum", "send_u_recv", "send_ue_recv", "send_uv", "weighted_sample_neighbors",
]  # fmt: skip
