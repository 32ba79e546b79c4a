"""``paddle.fluid`` is gone; importing it says where its parts are now."""

raise ImportError(
    "paddle.fluid was removed in Paddle 3: use paddle.base for framework, core, unique_name and "
    "ParamAttr, paddle.nn for "
    "layers, paddle.static for programs and executors, paddle.optimizer for optimizers, paddle.io for readers"
)
