"""The core's answer to whether what a program assumed still holds."""

import pytest
from paddle import _core

unchanged = _core.trace.unchanged


def test_entries_are_the_very_objects():
    value = [1]
    space = {"a": value, "b": None}
    assert unchanged([(space, "a", value, "what for"), (space, "b", None, "")], [])
    assert not unchanged([(space, "a", [1], "")], [])
    space["a"] = [1]
    assert not unchanged([(space, "a", value, "")], [])
    del space["a"]
    assert not unchanged([(space, "a", value, "")], [])


def test_tables_have_the_same_values_in_order():
    x, y = object(), object()
    table = {"x": x, "y": y}
    assert unchanged([], [(table, (x, y))])
    assert not unchanged([], [(table, (y, x))])
    assert not unchanged([], [(table, (x,))])
    assert not unchanged([], [(table, (x, y, x))])
    assert unchanged([], [({}, ())])
    table["y"] = object()
    assert not unchanged([], [(table, (x, y))])


def test_wrong_arguments():
    for arguments in ((), ([],), ((), [])):
        with pytest.raises(TypeError):
            unchanged(*arguments)
