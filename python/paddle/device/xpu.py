"""XPU devices: there are none."""

__all__ = ["synchronize", "device_count"]


def device_count() -> int:
    """0."""
    return 0


def synchronize(device=None) -> None:
    """Raises: there is no XPU."""
    raise ValueError("[xpu.synchronize] there is no XPU")
