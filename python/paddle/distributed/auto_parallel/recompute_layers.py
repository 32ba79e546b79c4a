"""Which layers :class:`Strategy`'s recompute means, and a capture in which they are recomputed."""

from __future__ import annotations

import contextlib
import functools

from paddle import nn


def chosen(network, config) -> list:
    """The sublayers whose intermediate tensors backward shall compute again.

    Raises:
        ValueError: a name that no sublayer has, or nothing to recompute.
    """
    if config.checkpoints:
        known = dict(network.named_sublayers(include_self=True))
        unknown = [name for name in config.checkpoints if name not in known]
        if unknown:
            raise ValueError(
                f"[Strategy] recompute.checkpoints: the network has no sublayers {unknown}; it has {list(known)}"
            )
        layers = [known[name] for name in config.checkpoints]
    else:
        lists = [layer for layer in network.sublayers(include_self=True) if isinstance(layer, nn.LayerList)]
        inner = {id(sub) for items in lists for item in items for sub in item.sublayers(include_self=True)}
        layers = [item for items in lists if id(items) not in inner for item in items]
    layers = [layer for i, layer in enumerate(layers) if i not in set(config.no_recompute_segments)]
    if not layers:
        raise ValueError("[Strategy] recompute: the network has no LayerList; name its parts in recompute.checkpoints")
    return layers


@contextlib.contextmanager
def recomputed(layers):
    """Within it calls of ``layers`` go through ``fleet.utils.recompute``."""
    from ..fleet.utils import recompute

    for layer in layers:
        layer.__dict__["forward"] = functools.partial(recompute, layer.forward)
    try:
        yield
    finally:
        for layer in layers:
            del layer.__dict__["forward"]
