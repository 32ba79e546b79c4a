"""Functions that official Paddle has fused kernels for, as compositions; compiled programs fuse them."""

from ....nn.functional import swiglu
from .linear import fused_dropout_add, fused_linear, fused_linear_activation, fused_matmul_bias
from .norm import fused_bias_dropout_residual_layer_norm, fused_layer_norm, fused_rms_norm, fused_rms_norm_ext
from .rotary import fused_rotary_position_embedding
from .transformer import fused_bias_act, fused_feedforward, fused_multi_head_attention

__all__ = [
    "fused_bias_act", "fused_bias_dropout_residual_layer_norm", "fused_dropout_add", "fused_feedforward", "fused_layer_norm",
    "fused_linear", "fused_linear_activation", "fused_matmul_bias", "fused_multi_head_attention", "fused_rms_norm", "fused_rms_norm_ext",
    "fused_rotary_position_embedding", "swiglu",
]  # fmt: skip
