"""Names of operators in custom lists. What is white or black by itself stands in each operator's record (``amp``)."""

from __future__ import annotations

# Older names that programs put in their lists, and the operators they mean.
LEGACY_NAMES = {
    "matmul_v2": "matmul", "mul": "matmul", "linear_v2": "linear", "elementwise_add": "add", "elementwise_sub": "subtract",
    "elementwise_mul": "multiply", "elementwise_div": "divide", "elementwise_pow": "elementwise_pow",
    "elementwise_max": "maximum", "elementwise_min": "minimum", "elementwise_mod": "remainder", "reduce_sum": "sum",
    "reduce_mean": "mean", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "prod", "lookup_table": "embedding",
    "lookup_table_v2": "embedding", "reshape2": "reshape", "transpose2": "transpose", "squeeze2": "squeeze",
    "unsqueeze2": "unsqueeze", "flatten_contiguous_range": "flatten", "softmax_with_cross_entropy":
    "cross_entropy_with_softmax", "cross_entropy": "cross_entropy_with_softmax", "arg_max": "argmax", "arg_min": "argmin",
    "top_k_v2": "topk", "expand_v2": "expand", "nearest_interp_v2": "nearest_interp", "bilinear_interp_v2":
    "bilinear_interp", "bicubic_interp_v2": "bicubic_interp", "linear_interp_v2": "linear_interp", "trilinear_interp_v2":
    "trilinear_interp", "p_norm": "p_norm", "pnorm": "p_norm", "sync_batch_norm": "sync_batch_norm_", "fill_constant":
    "full", "tanh_shrink": "tanh_shrink", "max_pool2d_with_index": "max_pool2d_with_index",
}  # fmt: skip


def operator_names(names) -> frozenset:
    """The given names and the operators that older ones mean."""
    return frozenset(names) | frozenset(LEGACY_NAMES[n] for n in names if n in LEGACY_NAMES)
