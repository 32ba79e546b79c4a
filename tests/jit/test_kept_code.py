"""Transformed code is kept between processes: found again for the same code object, never for another."""

from __future__ import annotations

import importlib.util
import linecache
import sys

import pytest
from paddle.jit.dy2static import convert, kept, source

MODULE = """
import helper_library as lib

def choose(x, flag):
    if flag > 0:
        y = lib.twice(x)
    else:
        y = x - 1
    return y

def plain(x):
    return x
"""


@pytest.fixture
def store(reference_core, monkeypatch):
    entries: dict[bytes, bytes] = {}
    monkeypatch.setattr(reference_core, "kept_bytes", entries.get, raising=False)
    monkeypatch.setattr(reference_core, "keep_bytes", entries.__setitem__, raising=False)
    return entries


@pytest.fixture
def load(tmp_path, monkeypatch):
    """A module from text, as a process that begins now imports it."""
    (tmp_path / "helper_library.py").write_text("def twice(x):\n    return 2 * x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "model.py"

    def module(text=None):
        if text is not None:
            path.write_text(text)
        linecache.clearcache()
        source._files.clear()
        source._codes.clear()
        convert.forget()
        sys.modules.pop("helper_library", None)
        spec = importlib.util.spec_from_file_location("kept_model", path)
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        return made

    return module


def transformations(monkeypatch):
    done = []
    original = convert.transformed_tree
    monkeypatch.setattr(convert, "transformed_tree", lambda fn, *rest: done.append(fn.__name__) or original(fn, *rest))
    return done


def test_a_second_process_transforms_nothing(store, load, monkeypatch):
    done = transformations(monkeypatch)
    for expected in (["choose", "twice", "plain"], []):
        done.clear()
        model = load(MODULE)
        assert convert.convert_function(model.choose)(5, 1) == 10
        assert convert.convert_function(model.choose)(5, -1) == 4
        assert convert.convert_function(model.plain) is model.plain
        assert done == expected
    assert len(store) == 3


def test_other_code_at_the_same_place_is_another_entry(store, load):
    assert convert.convert_function(load(MODULE).choose)(5, -1) == 4
    assert convert.convert_function(load(MODULE.replace("x - 1", "x - 2")).choose)(5, -1) == 3
    assert convert.convert_function(load(MODULE).choose)(5, -1) == 4


def test_a_file_edited_after_its_import_keeps_nothing(store, load, tmp_path):
    model = load(MODULE)
    (tmp_path / "model.py").write_text(MODULE.replace("x - 1", "x - 2"))
    convert.convert_function(model.choose)
    assert not store


def test_names_that_mean_something_else_now(store, load, monkeypatch):
    done = transformations(monkeypatch)
    convert.convert_function(load(MODULE).choose)
    convert._ignored_modules.add("helper_library")  # calls of a library's functions are left alone
    try:
        assert convert.convert_function(load().choose)(5, 1) == 10
    finally:
        convert._ignored_modules.discard("helper_library")
    assert done == ["choose", "choose"]


@pytest.mark.parametrize("rubbish", [b"", b"\x00", b"i\x01\x00\x00\x00", b"\xa9\x02N", b"no code at all"])
def test_rubbish_is_made_anew(store, load, rubbish):
    convert.convert_function(load(MODULE).choose)
    for key in store:
        store[key] = rubbish
    assert convert.convert_function(load().choose)(5, 1) == 10
    assert rubbish not in store.values()


def test_another_version_of_the_transformation_misses(store, load, monkeypatch):
    convert.convert_function(load(MODULE).choose)
    monkeypatch.setattr(kept, "version", lambda: b"another")
    convert.convert_function(load().choose)
    assert len(store) == 2
    monkeypatch.setattr(kept, "version", lambda: None)
    convert.convert_function(load().choose)
    assert len(store) == 2
