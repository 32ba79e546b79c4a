"""What importing costs and whom it disturbs. Each case is a process of its own."""

import importlib.util
import os
import subprocess
import sys

import pytest

COMPUTE = {
    "paddle": "import paddle; assert float(paddle.nn.functional.softmax(paddle.ones([2, 4])).sum()) == 2.0; "
    "f = paddle.jit.to_static(lambda x: (x * 2 + 1).exp().mean(-1)); assert f(paddle.zeros([2, 300])).shape == [2]",
    "torch": "import torch; assert float(torch.softmax(torch.ones(2, 4), -1).sum()) == 2.0; torch.ones(64, 64) @ torch.ones(64, 64)",
}


def torch_python():
    """An interpreter that has torch: this one, or the one that PADDLE_TEST_TORCH names."""
    named = os.environ.get("PADDLE_TEST_TORCH")
    if named:
        return named
    return sys.executable if importlib.util.find_spec("torch") else None


def run(python, code, path=()):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(path))
    return subprocess.run([python, "-c", code], capture_output=True, text=True, env=env, timeout=300)


@pytest.mark.parametrize("order", [("torch", "paddle"), ("paddle", "torch")], ids="-".join)
def test_beside_torch(order):
    python = torch_python()
    if python is None:
        pytest.skip("torch is not installed here; PADDLE_TEST_TORCH may name an interpreter that has it")
    import paddle

    site = [os.path.dirname(os.path.dirname(paddle.__file__))] if python != sys.executable else []
    # both imported first, then both compute, twice: threads and compilers of each have started
    code = "; ".join(
        [COMPUTE[order[0]].split(";")[0], COMPUTE[order[1]].split(";")[0]] + [COMPUTE[n] for n in order * 2]
    )
    result = run(python, f"import sys; sys.path[0:0] = {site!r}; {code}")
    assert result.returncode == 0, result.stderr


def test_import_loads_no_more_than_it_needs():
    code = (
        "import sys, resource, paddle\n"
        "heavy = {'scipy', 'matplotlib', 'paddle.vision', 'paddle.distributed', 'paddle.jit'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "kib = [int(l.split()[1]) for l in open('/proc/self/status') if l.startswith('VmRSS')][0]\n"
        "assert kib < 80 * 1024, kib\n"
    )
    result = run(sys.executable, code)
    assert result.returncode == 0, result.stderr
