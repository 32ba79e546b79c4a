"""What the tests, the benchmark and the table know of each model: how to make it and what to feed it."""

import importlib
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


class Draw(np.random.RandomState):
    """Random inputs, the same for the same seed everywhere."""

    def image(self, *shape):
        return self.randn(*shape).astype("float32")

    normal32 = image

    def tokens(self, vocabulary, *shape, first=1):
        return self.randint(first, vocabulary, shape).astype("int64")

    def uniform32(self, *shape):
        return self.rand(*shape).astype("float32")


@dataclass
class Model:
    name: str
    make: Callable  # () -> Layer
    inputs: Callable  # (batch, Draw) -> list of arrays
    source: str  # the module that defines it
    doc: str
    dynamic: tuple | None = None  # for each input the dimensions whose size is open; None: the first of each
    batches: tuple = (2, 3)
    tolerance: float = 1e-5  # of the largest value of an output
    trains: bool = True  # the loss has a gradient
    differentiates: bool = False  # asks for gradients in forward, so no_grad() isn't for it
    why: str = ""  # of a wider tolerance, or of no training

    @property
    def family(self):
        return self.source.rsplit(".", 1)[-1]

    def build(self, paddle):
        paddle.seed(zlib.crc32(self.name.encode()) % 10000)
        return self.make()

    def arrays(self, batch):
        return self.inputs(batch, Draw(batch * 7 + len(self.name)))

    def spec(self, paddle):
        """InputSpecs with the dynamic dimensions open."""
        found = []
        for k, a in enumerate(self.arrays(self.batches[0])):
            open_dims = (0,) if self.dynamic is None else self.dynamic[k]
            shape = [None if d in open_dims else size for d, size in enumerate(a.shape)]
            found.append(paddle.static.InputSpec(shape, str(a.dtype), f"x{k}"))
        return found


MODELS: dict[str, Model] = {}


def model(name, inputs, make=None, **options):
    """Register a Layer (a decorator), or with ``make`` a variant of one."""

    source = options.pop("source", None)

    def register(cls):
        assert name not in MODELS, name
        doc = (options.pop("doc", None) or cls.__doc__ or "").strip().split("\n")[0]
        MODELS[name] = Model(name, make or cls, inputs, source or cls.__module__, doc, **options)
        return cls

    return register


def load_all():
    """Import each file of the folder; then MODELS is complete."""
    folder = os.path.dirname(__file__)
    for file in sorted(os.listdir(folder)):
        if file.endswith(".py") and file not in ("__init__.py", "registry.py"):
            importlib.import_module(f"{__package__}.{file[:-3]}")
    return MODELS
