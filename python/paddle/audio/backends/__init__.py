"""With what sound files are read: the standard library's WAV files."""

from .wave_backend import AudioInfo, info, load, save

__all__ = ["AudioInfo", "get_current_backend", "info", "list_available_backends", "load", "save", "set_backend"]


def list_available_backends():
    """The names that ``set_backend`` takes."""
    return ["wave_backend"]


def get_current_backend():
    """The name of the backend in use."""
    return "wave_backend"


def set_backend(backend_name):
    """Chooses a backend.

    Raises:
        NotImplementedError: another than ``list_available_backends`` names.
    """
    if backend_name not in list_available_backends():
        raise NotImplementedError(f"[audio] expected a backend of {list_available_backends()}, got {backend_name!r}")
