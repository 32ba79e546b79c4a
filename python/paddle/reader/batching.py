"""Samples of a reader in lists."""

from __future__ import annotations

__all__ = []


def batch(reader, batch_size: int, drop_last: bool = False):
    """A reader of lists of ``batch_size`` samples; a shorter last one is left out with ``drop_last``.

    Raises:
        ValueError: ``batch_size`` is not positive.
    """
    batch_size = int(batch_size)
    if batch_size <= 0:
        raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")

    def batches():
        rows: list = []
        for row in reader():
            rows.append(row)
            if len(rows) == batch_size:
                yield rows
                rows = []
        if rows and not drop_last:
            yield rows

    return batches
