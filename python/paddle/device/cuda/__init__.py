"""CUDA devices. Without one, asking for a number of devices gives 0, and what needs one raises ValueError."""

from __future__ import annotations

from ... import device as _device
from ...base import core
from ..stream import Event, Stream, current_stream, stream_guard

__all__ = [
    "Stream", "Event", "current_stream", "synchronize", "device_count", "empty_cache", "max_memory_allocated",
    "max_memory_reserved", "memory_allocated", "memory_reserved", "stream_guard", "get_device_properties",
    "get_device_name", "get_device_capability", "reset_max_memory_allocated", "reset_max_memory_reserved",
    "memory_summary", "vmm_compact",
]  # fmt: skip
_ = Stream, Event, current_stream, stream_guard


def device_count() -> int:
    """Number of CUDA devices."""
    return core.get_cuda_device_count()


def is_available() -> bool:
    """Whether there is a CUDA device."""
    return device_count() > 0


def empty_cache() -> None:
    """Gives unused device memory back to the driver."""
    _device.empty_cache()


def _needs_gpu(name, what, doc):
    def call(device=None):
        if not core.is_compiled_with_cuda():
            raise ValueError(
                f"The API paddle.device.cuda.{name} is not supported in CPU-only PaddlePaddle. Please reinstall "
                "PaddlePaddle with GPU or custom device support to call this API."
            )
        return what(device)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return call


synchronize = _needs_gpu("synchronize", _device.synchronize, "Waits until the device has done all work.")
memory_allocated = _needs_gpu("memory_allocated", _device.memory_allocated, "Bytes that tensors take now.")
memory_reserved = _needs_gpu("memory_reserved", _device.memory_reserved, "Bytes that the allocator holds.")
max_memory_allocated = _needs_gpu("max_memory_allocated", _device.max_memory_allocated, "The most allocated so far.")
max_memory_reserved = _needs_gpu("max_memory_reserved", _device.max_memory_reserved, "The most reserved so far.")
reset_max_memory_allocated = _needs_gpu(
    "reset_max_memory_allocated", _device.reset_max_memory_allocated, "Starts ``max_memory_allocated`` anew."
)
reset_max_memory_reserved = _needs_gpu(
    "reset_max_memory_reserved", _device.reset_max_memory_reserved, "Starts ``max_memory_reserved`` anew."
)
get_device_properties = _needs_gpu("get_device_properties", _device.get_device_properties, "Name, memory and so on.")
get_device_name = _needs_gpu("get_device_name", _device.get_device_name, "The product's name.")
get_device_capability = _needs_gpu("get_device_capability", _device.get_device_capability, "(major, minor).")


def memory_summary(device=None) -> None:
    """Prints what is allocated and reserved, and the maxima."""
    for name in ("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved"):
        print(f"{name}: {globals()[name](device)}")


def vmm_compact(device=None) -> int:
    """Bytes freed by moving tensors together; none are moved."""
    return 0


# What works on every device, under the names that programs for CUDA use.
device = _device.device
get_rng_state, set_rng_state = _device.get_rng_state, _device.set_rng_state
manual_seed = manual_seed_all = _device.manual_seed
is_bf16_supported = _device.is_bf16_supported
