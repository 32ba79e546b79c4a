"""What readers and writers of program files say: which file is meant, and what can't be written."""

from __future__ import annotations

import contextlib
import os

from ..framework.flags import get_flags

# Options of official Paddle's writers that change what is written, and the value at which nothing is asked for.
_UNSUPPORTED = {
    "legacy_format": (False, "a program of Paddle 2 (.pdmodel, protobuf)"),
    "separate_params": (False, "a file for each parameter"),
    "use_dist": (
        False,
        "the files of a distributed program; save the whole one, or paddle.distributed.save_state_dict",
    ),
}


def check_format(function: str, options: dict) -> None:
    """
    Raises:
        NotImplementedError: an option, or ``FLAGS_json_format_model``, asks for what can't be written.
    """
    for name, (nothing, what) in _UNSUPPORTED.items():
        if options.get(name, nothing) not in (nothing, None):
            raise NotImplementedError(f"[{function}] {name}={options[name]!r} asks for {what}: not supported")
    if not get_flags("FLAGS_json_format_model")["FLAGS_json_format_model"]:
        raise NotImplementedError(
            f"[{function}] FLAGS_json_format_model=0 asks for a protobuf program (.pdmodel): only .json is written"
        )


def refuse_paddle_2(function: str, prefix: str) -> None:
    """
    Raises:
        ValueError: there is a program of Paddle 2 under this prefix, and none of Paddle 3.
    """
    if os.path.exists(prefix + ".pdmodel") and not os.path.exists(prefix + ".json"):
        raise ValueError(
            f"[{function}] '{prefix}.pdmodel' is a program of Paddle 2; convert it with official Paddle 3 "
            "(paddle.static.load_inference_model, then save_inference_model), which writes a .json"
        )


@contextlib.contextmanager
def naming(function: str, path: str | None):
    """Errors of what is read inside say which file it is."""
    try:
        yield
    except (ValueError, TypeError, IndexError, NotImplementedError) as error:
        if path is None:
            raise
        raise type(error)(f"[{function}] '{path}': {error}") from None
