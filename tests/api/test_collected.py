"""Every folder of tests is looked into, and no two test files share a name (pytest imports them by it)."""

import collections
import fnmatch
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def test_no_folder_is_passed_over(pytestconfig):
    passed_over = pytestconfig.getini("norecursedirs")
    folders = {p for file in TESTS.rglob("test_*.py") for p in file.relative_to(TESTS).parts[:-1]}
    assert folders and not [f for f in folders for pattern in passed_over if fnmatch.fnmatch(f, pattern)]


def test_names_are_unique():
    names = collections.Counter(p.name for p in TESTS.rglob("test_*.py"))
    assert [n for n, count in names.items() if count > 1] == []
