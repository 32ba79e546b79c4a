"""Sound: files, spectra, features."""

from . import backends, features, functional
from .backends import info, load, save

__all__ = ["backends", "features", "functional", "info", "load", "save"]
