"""Programs in half precision, made from saved ones."""

from __future__ import annotations

import os
import tempfile

from .types import PlaceType, PrecisionType

_DTYPES = {"Half": "float16", "Bfloat16": "bfloat16"}


def convert_to_mixed_precision(
    model_file: str,
    params_file: str,
    mixed_model_file: str,
    mixed_params_file: str,
    mixed_precision: PrecisionType,
    backend: PlaceType,
    keep_io_types: bool = True,
    black_list=None,
    **kwargs,
) -> None:
    """Writes a saved program once more, with what autocast's level O2 computes in half precision computed so.

    Weights of two axes and more are stored in half precision; vectors (biases, statistics) stay as they are.

    Args:
        model_file, params_file: the program's files (``.json``, ``.pdiparams``).
        mixed_model_file, mixed_params_file: where to write; folders are created.
        mixed_precision: ``PrecisionType.Half`` or ``Bfloat16``.
        backend: the device that it is meant for; the program is the same for each.
        keep_io_types: inputs and outputs keep their dtypes; else float32 ones become half.
        black_list: operators that stay as they are. ``white_list``: operators that become half precision.

    Raises:
        ValueError: another precision, or no program at ``model_file``.
        TypeError: an unknown option.
    """
    import paddle

    white_list = kwargs.pop("white_list", None)
    if kwargs:
        raise TypeError(f"convert_to_mixed_precision() got an unexpected keyword argument '{next(iter(kwargs))}'")
    name = getattr(mixed_precision, "name", str(mixed_precision))
    if name not in _DTYPES:
        raise ValueError(f"[convert_to_mixed_precision] expected precision Half or Bfloat16, got {name}")
    dtype = _DTYPES[name]
    folder, model = os.path.split(model_file)
    layer = paddle.jit.load(
        folder or ".",
        model_filename=model,
        params_filename=os.path.relpath(params_file, folder or ".") if params_file else None,
    )
    _halve(layer, dtype)
    specs = [s for s in layer._input_spec()]

    def half(spec):
        return str(spec.dtype).endswith("float32") and not keep_io_types

    kept = [paddle.static.InputSpec(s.shape, dtype if half(s) else s.dtype, s.name) for s in specs]

    def forward(*inputs):
        with (
            paddle.no_grad(),
            paddle.amp.auto_cast(
                level="O2",
                dtype=dtype,
                custom_white_list=set(white_list or ()),
                custom_black_list=set(black_list or ()),
            ),
        ):
            results = layer(*inputs)
        several = isinstance(results, (list, tuple))
        results = list(results) if several else [results]
        results = [_as_output(paddle, r, dtype, keep_io_types) for r in results]
        return results if several else results[0]

    with tempfile.TemporaryDirectory() as scratch:
        prefix = os.path.join(scratch, "mixed")
        paddle.jit.save(forward, prefix, input_spec=kept)
        _move(prefix + ".json", mixed_model_file)
        if os.path.exists(prefix + ".pdiparams"):
            _move(prefix + ".pdiparams", mixed_params_file or os.path.splitext(mixed_model_file)[0] + ".pdiparams")


def _halve(layer, dtype: str) -> None:
    from ..jit import _trace_api as api

    for tensor in (*layer.parameters(), *layer.buffers()):
        if str(tensor.dtype).endswith("float32") and tensor.ndim >= 2:
            api.rebind(tensor, tensor.detach().astype(dtype))
            tensor.stop_gradient = True


def _as_output(paddle, result, dtype: str, keep: bool):
    name = str(result.dtype).rsplit(".", 1)[-1]
    if keep and name == dtype:
        return result.astype("float32")
    return result.astype(dtype) if not keep and name == "float32" else result


def _move(source: str, target: str) -> None:
    os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
    with open(source, "rb") as file, open(target + ".tmp", "wb") as out:
        out.write(file.read())
    os.replace(target + ".tmp", target)
