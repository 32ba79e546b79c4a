"""What can't be compiled runs by kernels: too slow to compile, no such type, a code generator that fails. Values stay right."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle
from paddle.jit import _trace_api

X = np.linspace(-2, 2, 24, dtype="float32").reshape(4, 6)
SOFTMAX = np.exp(X) / np.exp(X).sum(-1, keepdims=True)


@pytest.fixture(autouse=True)
def reference_core():
    previous = _trace_api.install(paddle._core.trace)
    yield
    _trace_api.install(previous)


def softmax(x):
    e = paddle.exp(x - x.max(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def test_a_group_over_its_budget():
    flag = "FLAGS_cinn_compile_budget_ms"
    before = paddle.get_flags(flag)
    paddle.set_flags({flag: 0, "FLAGS_compile_cache_dir": "off"})
    try:
        # a size that no other test has: compiled code stays in the process
        x = np.linspace(-1, 1, 4 * 61, dtype="float32").reshape(4, 61)
        want = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
        result = paddle.jit.explain(softmax, paddle.to_tensor(x))
        assert any("FLAGS_cinn_compile_budget_ms" in g["why_kernels"] for g in result.groups)
        assert {s.kind for s in result.steps} == {"Instruction"}
        np.testing.assert_allclose(paddle.jit.to_static(softmax)(paddle.to_tensor(x)).numpy(), want, rtol=1e-6)
    finally:
        paddle.set_flags(before)


def test_types_without_code_stay_with_kernels():
    z = X + 1j * X[::-1]
    got = paddle.jit.to_static(lambda a: paddle.exp(a) * a + a)(paddle.to_tensor(z))
    np.testing.assert_allclose(got.numpy(), np.exp(z) * z + z, rtol=1e-5)


BROKEN = """
import numpy as np, paddle
def f(x):
    e = paddle.exp(x - x.max(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)
x = np.linspace(-2, 2, 24, dtype="float32").reshape(4, 6)
print(paddle.jit.to_static(f)(paddle.to_tensor(x)).numpy().tolist())
"""


# Refuses every group: struct CodegenTable of src/cinn/codegen/llvm/api.h.
API = Path(__file__).parents[2] / "src" / "cinn" / "codegen" / "llvm" / "api.h"
REFUSING = """
#include <stdint.h>
static _Bool compile(void) { return 0; }
static int vector_bytes(void) { return 64; }
static const struct {
  uint32_t version; void *compile, *vector_bytes;
} table = {VERSION, compile, vector_bytes};
const void* paddle_codegen_table(void) { return &table; }
"""


def run_with(library):
    environment = {**os.environ, "PADDLE_CODEGEN_LIBRARY": str(library), "FLAGS_log_level": "1"}
    environment["FLAGS_compile_cache_dir"] = "off"
    done = subprocess.run([sys.executable, "-c", BROKEN], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(json.loads(done.stdout.strip().splitlines()[-1]), SOFTMAX, rtol=1e-5)
    return done.stderr


@pytest.mark.parametrize("content", [None, "not a library"], ids=["missing", "broken"])
def test_a_code_generator_that_cannot_be_opened(tmp_path, content):
    library = tmp_path / "libpaddle_codegen.so"
    if content is not None:
        library.write_text(content)
    assert "captured programs run by kernels" in run_with(library)


def test_a_code_generator_that_fails(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    version = re.search(r"kCodegenVersion = (\d+)", API.read_text())[1]
    (tmp_path / "refusing.c").write_text(REFUSING.replace("VERSION", version))
    library = tmp_path / "librefusing.so"
    subprocess.run([compiler, "-w", "-shared", "-fPIC", "-o", library, tmp_path / "refusing.c"], check=True)
    assert "a group runs by kernels" in run_with(library)
