"""Export to ONNX: not available."""

from __future__ import annotations

__all__ = ["export"]


def export(layer, path: str, input_spec=None, opset_version: int = 9, **configs) -> None:
    """Not available.

    Raises:
        NotImplementedError: always. Save with ``paddle.jit.save``; official Paddle and its paddle2onnx read what that writes.
    """
    raise NotImplementedError(
        "[onnx.export] is not available: save the layer with paddle.jit.save; paddle2onnx (with official Paddle) converts "
        "the .json and .pdiparams files"
    )
