"""Models of repositories with a ``hubconf.py``."""

from .hapi.hub import help, list, load, load_state_dict_from_url

__all__ = ["help", "list", "load", "load_state_dict_from_url"]
