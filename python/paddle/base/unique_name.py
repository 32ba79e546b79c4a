"""Process-wide unique names.

Names of parameters and of optimizer accumulators are built here (``linear_0.w_0``), and checkpoints refer to them,
so the sequence is part of the file format.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict

__all__ = ["generate", "switch", "guard"]


class UniqueNameGenerator:
    """Counts per key: ``generator("fc")`` answers ``<prefix>fc_0``, ``<prefix>fc_1``, ..."""

    def __init__(self, prefix=None):
        self.ids = defaultdict(int)
        self.prefix = "" if prefix is None else prefix

    def __call__(self, key):
        count = self.ids[key]
        self.ids[key] = count + 1
        return f"{self.prefix}{key}_{count}"


class DygraphParameterNameChecker:
    """Remembers the names of parameters that exist, so that a second one of the same name can be noticed."""

    def __init__(self):
        self._names = set()

    def add(self, name):
        self._names.add(name)

    def contains(self, name):
        return name in self._names


generator = UniqueNameGenerator()
dygraph_parameter_name_checker = DygraphParameterNameChecker()
_temporaries = UniqueNameGenerator()


def generate(key):
    """Returns the next unique name for `key` (str): the prefix in force, the key, an underscore and a count."""
    return generator(key)


def generate_with_ignorable_key(key):
    """Names a temporary. The key carries no meaning, and the count does not disturb that of parameters."""
    return _temporaries("dygraph_tmp")


def switch(new_generator=None, new_para_name_checker=None):
    """Installs another generator (a fresh one for None) and returns the pair that was in force.

    Pass that pair's members to a later call to go back.
    """
    global generator, dygraph_parameter_name_checker
    old = generator, dygraph_parameter_name_checker
    generator = UniqueNameGenerator() if new_generator is None else new_generator
    dygraph_parameter_name_checker = (
        DygraphParameterNameChecker() if new_para_name_checker is None else new_para_name_checker
    )
    return old


@contextlib.contextmanager
def guard(new_generator=None):
    """Counts from zero inside the ``with``. A str or bytes argument is the prefix of every name made there."""
    if isinstance(new_generator, bytes):
        new_generator = new_generator.decode()
    if isinstance(new_generator, str):
        new_generator = UniqueNameGenerator(new_generator)
    old = switch(new_generator)
    try:
        yield
    finally:
        switch(*old)
