"""Export to ONNX, by the package paddle2onnx."""

from __future__ import annotations

import os
import tempfile

from ..utils.lazy_import import try_import

__all__ = ["export"]


def export(layer, path: str, input_spec=None, opset_version: int = 9, **configs) -> None:
    """Writes ``path.onnx``: the layer is saved as a program (``jit.save``), which paddle2onnx converts.

    Args:
        layer (Layer): what is exported.
        path (str): folder and name, without a postfix.
        input_spec (list, optional): InputSpecs or tensors; needed unless ``forward`` has them already.
        opset_version (int): of the ONNX operators.
        **configs: what ``jit.save`` takes, and other keywords of ``paddle2onnx.export``.

    Raises:
        ImportError: paddle2onnx isn't installed. ValueError: `path` has no file name.
    """
    converter = try_import("paddle2onnx")
    name = os.path.basename(path)
    if not name:
        raise ValueError(
            "The input path MUST be format of dirname/file_prefix [dirname\\\\file_prefix in Windows system], but received "
            "file_prefix is empty string."
        )
    from ..jit import save

    saved = {k: configs.pop(k) for k in ("output_spec", "input_names_after_prune") if k in configs}
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, name)
        save(layer, prefix, input_spec=input_spec, **saved)
        converter.export(
            prefix + ".json", prefix + ".pdiparams", save_file=path + ".onnx", opset_version=opset_version, **configs
        )
