"""Nests: lists, tuples, named tuples and dicts of anything. Dicts count in the order of their sorted keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def is_sequence(seq) -> bool:
    """Whether ``seq`` is a nest rather than a leaf (strings are leaves)."""
    return isinstance(seq, (Mapping, Sequence)) and not isinstance(seq, (str, bytes))


def _sorted_keys(mapping):
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def _children(nest):
    return [nest[k] for k in _sorted_keys(nest)] if isinstance(nest, Mapping) else list(nest)


def flatten(nest) -> list:
    """The leaves in order; a leaf alone gives a list of one."""
    if not is_sequence(nest):
        return [nest]
    leaves: list = []
    for child in _children(nest):
        leaves.extend(flatten(child))
    return leaves


def to_sequence(nest):
    """``nest`` itself, or a leaf in a list."""
    return nest if is_sequence(nest) else [nest]


def _like(nest, children):
    """A nest of the same kind with other children."""
    if isinstance(nest, Mapping):
        values = dict(zip(_sorted_keys(nest), children))
        return type(nest)((k, values[k]) for k in nest)
    if isinstance(nest, tuple) and hasattr(nest, "_fields"):
        return type(nest)(*children)
    return type(nest)(children)


def _pack(structure, leaves):
    if not is_sequence(structure):
        return next(leaves)
    return _like(structure, [_pack(child, leaves) for child in _children(structure)])


def pack_sequence_as(structure, flat_sequence):
    """The leaves of ``flat_sequence`` in the shape of ``structure``.

    Raises:
        TypeError: ``flat_sequence`` is no sequence. ValueError: the numbers of leaves differ.
    """
    if not is_sequence(flat_sequence):
        raise TypeError("flat_sequence must be a sequence")
    if not is_sequence(structure):
        if len(flat_sequence) != 1:
            raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1")
        return flat_sequence[0]
    count = len(flatten(structure))
    if count != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had {len(flat_sequence)} "
            f"elements. Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(structure, iter(flat_sequence))


def map_structure(func, *structure):
    """``func`` of corresponding leaves, in the shape of the first nest.

    Raises:
        ValueError, TypeError: the nests differ in shape.
    """
    for other in structure[1:]:
        assert_same_structure(structure[0], other)
    leaves = [func(*items) for items in zip(*(flatten(s) for s in structure))]
    return pack_sequence_as(structure[0], leaves)


def assert_same_structure(nest1, nest2, check_types=True, skip_if=None) -> None:
    """Raises unless both nests have the same shape (and kinds of nests, with ``check_types``).

    Raises:
        ValueError: numbers of elements or keys differ. TypeError: kinds differ.
    """
    if skip_if is not None and (skip_if(nest1) or skip_if(nest2)):
        return
    if is_sequence(nest1) != is_sequence(nest2):
        raise ValueError(f"The two structures don't have the same nested structure: {nest1} and {nest2}")
    if not is_sequence(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise TypeError(f"The two structures don't have the same sequence type: {type(nest1)} and {type(nest2)}")
    if len(nest1) != len(nest2):
        raise ValueError(
            f"The two structures don't have the same number of elements: {len(nest1)} in {nest1}, {len(nest2)} "
            f"in {nest2}"
        )
    if isinstance(nest1, Mapping) and set(nest1) != set(nest2):
        raise ValueError(f"The two dictionaries don't have the same set of keys: {set(nest1)} and {set(nest2)}")
    for child1, child2 in zip(_children(nest1), _children(nest2)):
        assert_same_structure(child1, child2, check_types, skip_if)


def convert_to_list(value, n, name, dtype=int) -> list:
    """``n`` numbers from one or from a sequence of ``n``.

    Raises:
        ValueError: neither.
    """
    if isinstance(value, dtype):
        return [value] * n
    try:
        items = list(value)
    except TypeError:
        items = None
    if items is None or len(items) != n or not all(isinstance(v, dtype) for v in items):
        raise ValueError(
            f"The {name}'s type must be list or tuple of {n} {dtype.__name__}s or one, but received: {value}"
        )
    return items


def hold_mutable_vars(structure):
    """Kept for old programs: nests need no holding here."""
    return structure


def copy_mutable_vars(structure):
    """A nest of the same leaves in new containers."""
    return pack_sequence_as(structure, flatten(structure))
