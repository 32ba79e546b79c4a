"""Every public function, class and method says what it does."""

import importlib
import inspect

import paddle
import pytest

# Packages whose public names (``__all__``, or what has no underscore) are looked at; new ones belong here.
PACKAGES = """
paddle paddle.amp paddle.autograd paddle.callbacks paddle.dataset paddle.dataset.common paddle.device
paddle.device.cuda paddle.distributed paddle.distributed.fleet paddle.distributed.fleet.utils paddle.distribution
paddle.fft paddle.geometric paddle.hapi paddle.hub paddle.incubate paddle.incubate.nn paddle.inference paddle.io
paddle.jit paddle.linalg paddle.metric paddle.nn paddle.nn.functional paddle.nn.initializer paddle.nn.quant
paddle.nn.quant.qat paddle.nn.utils paddle.onnx paddle.optimizer paddle.optimizer.lr paddle.profiler
paddle.quantization paddle.quantization.observers paddle.quantization.quanters paddle.regularizer paddle.signal
paddle.sparse paddle.sparse.nn paddle.sparse.nn.functional paddle.static paddle.static.nn paddle.sysconfig paddle.text
paddle.utils paddle.vision paddle.vision.datasets paddle.vision.models paddle.vision.ops paddle.vision.transforms
""".split()


def _public(module):
    names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    for name in names:
        try:
            found = getattr(module, name, None)
        except ImportError:  # announced, and not there yet
            continue
        if callable(found):
            yield name, found


def _methods(cls):
    """The public methods and properties that a class of ours defines itself, but for what only fills in a base's."""
    for name, member in vars(cls).items():
        inner = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
        if name.startswith("_") or not (inspect.isfunction(inner) or isinstance(inner, property)):
            continue
        if not any(hasattr(base, name) for base in cls.__mro__[1:]):
            yield name, inner


def undocumented(module_name):
    module = importlib.import_module(module_name)
    for name, found in _public(module):
        if not str(getattr(found, "__module__", "") or "paddle").startswith("paddle"):
            continue
        if inspect.isclass(found):
            if not (found.__doc__ or "").strip():
                yield f"{module_name}.{name}"
            if found is paddle.Tensor and module_name != "paddle":
                continue
            for method, inner in _methods(found):
                if not (inner.__doc__ or "").strip():
                    yield f"{module_name}.{name}.{method}"
        elif not (inspect.getdoc(found) or "").strip():
            yield f"{module_name}.{name}"


@pytest.mark.parametrize("module", PACKAGES)
def test_every_public_name_has_a_docstring(module):
    assert not sorted(undocumented(module))


def test_every_method_of_tensor_has_a_docstring():
    names = [n for n in dir(paddle.Tensor) if not n.startswith("_")]
    assert not [n for n in names if not inspect.getdoc(getattr(paddle.Tensor, n))]
