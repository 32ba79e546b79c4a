"""The device that new tensors go to."""

from __future__ import annotations

import re

from ..base import core

_INDEXED = re.compile(r"(gpu|cuda|dcu|xpu|npu|ipu):(\d+)")


def _current_expected_place_():
    return core.current_place()


_current_expected_place = _current_expected_place_


def _get_paddle_place(place):
    """A place from a place, a device string, or None (which stays None)."""
    if place is None or isinstance(place, core.Place):
        return place
    if isinstance(place, str):
        return convert_to_place(place)
    raise ValueError(f"[place] expected a Place or a device string such as 'cpu' or 'gpu:0', got {place!r}")


def _need(available, device, what):
    if not available:
        raise ValueError(f"The device should not be {device!r}, since PaddlePaddle is not compiled with {what}")


def convert_to_place(device):
    """The place that a device string means: ``cpu``, ``gpu``, ``gpu:1``, or a plugin's type with an index.

    Raises:
        ValueError: no such device here.
    """
    if not isinstance(device, str):
        return device
    name = device.lower()
    if name == "cpu":
        return core.CPUPlace()
    match = _INDEXED.fullmatch(name)
    kind, index = (match[1], int(match[2])) if match else (name, 0)
    if kind in ("gpu", "cuda", "dcu"):
        _need(core.is_compiled_with_cuda(), device, "CUDA")
        if index >= core.get_cuda_device_count():
            raise ValueError(f"[set_device] there are {core.get_cuda_device_count()} GPUs, got {device!r}")
        return core.CUDAPlace(index)
    if kind == "xpu":
        _need(core.is_compiled_with_xpu(), device, "XPU")
    kind, _, number = name.partition(":")
    if kind in core.get_all_custom_device_type() and (number == "" or number.isdigit()):
        return core.CustomPlace(kind, int(number or 0))
    known = ["'cpu'", "'gpu'", "'gpu:x'"] + [f"'{k}:x'" for k in core.get_all_custom_device_type()]
    raise ValueError(f"The device must be a string which is like {', '.join(known)}, got {device!r}")


def set_device(device):
    """Makes ``device`` (a string, a place, or an index of the current kind) the current one; returns its place.

    Raises:
        ValueError: no such device here.
    """
    if isinstance(device, int) and not isinstance(device, bool):
        kind = get_device().partition(":")[0]
        if kind == "cpu":
            if device != 0:
                raise ValueError(f"CPU device only supports index 0, got {device}")
            device = "cpu"
        else:
            device = f"{kind}:{device}"
    place = convert_to_place(device)
    core.set_current_place(place)
    return place


class Device(str):
    """The name of a device, such as ``"cpu"`` or ``"gpu:0"``, with its parts.

    Attributes:
        type: ``"cpu"``, ``"gpu"``, or what a plugin calls its kind.
        index: the device's number among its kind; None where there is but one.
    """

    @property
    def type(self) -> str:
        """The kind of device."""
        return self.partition(":")[0]

    @property
    def index(self) -> int | None:
        """The number among devices of the kind; None if the name has none."""
        number = self.partition(":")[2]
        return int(number) if number else None


def place_name(place) -> str:
    """``"cpu"``, ``"gpu:0"``, ``"<type>:<index>"``."""
    if place.is_cpu_place():
        return "cpu"
    if place.is_gpu_place():
        return f"gpu:{place.gpu_device_id()}"
    if place.is_cuda_pinned_place():
        return "gpu_pinned"
    return f"{place.custom_device_type()}:{place.custom_device_id()}"


def get_device(input=None) -> str:
    """The current device as a string; with a tensor, its index (-1 on a CPU)."""
    if input is not None:
        place = input.place
        if place.is_cpu_place():
            return -1
        return place.gpu_device_id() if place.is_gpu_place() else place.custom_device_id()
    return place_name(core.current_place())
