"""Every case of ``cases/`` gives what official Paddle 3.3.1 gives, but for what ``explained.py``, and ``DIFFERS`` beside
the cases, explain.

What official gave is stored in ``expected/`` (written by ``worker.py`` under official). With PADDLE_OFFICIAL_PYTHON, a
Python that has official Paddle, it is asked anew.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

from compare import verdict  # noqa: E402
from counting import count  # noqa: E402
from explained import EXPLAINED  # noqa: E402
from worker import read  # noqa: E402

FILES = sorted(p.stem for p in (HERE / "cases").glob("*.py"))


def run(python, name, out):
    environment = dict(os.environ, OMP_NUM_THREADS="1", GLOG_minloglevel="3")
    command = [python, "-W", "ignore", str(HERE / "worker.py"), str(HERE / "cases" / f"{name}.py"), str(out)]
    subprocess.run(command, env=environment, check=True, cwd=out.parent, stderr=subprocess.DEVNULL)
    return json.loads(out.read_text())


def test_every_name_has_cases():
    """``names.txt``: the names that six or more of twenty packages built on Paddle use."""
    everything = [read(HERE / "cases" / f"{name}.py")[0] for name in FILES]
    declared = {}
    for by_name in everything:
        for name, some in by_name.items():
            declared.setdefault(name, []).extend(some)
    counts = count((HERE / "names.txt").read_text().split(), declared)
    few = {name: n for name, n in counts.items() if n < 3}
    assert not few, f"fewer than three cases: {few}"


@pytest.mark.parametrize("name", FILES)
def test_as_official(name, tmp_path):
    stored = HERE / "expected" / f"{name}.json"
    official = os.environ.get("PADDLE_OFFICIAL_PYTHON")
    if not official and not stored.exists():
        pytest.skip(f"official's results of {name} are not stored, and PADDLE_OFFICIAL_PYTHON is not set")
    want = run(official, name, tmp_path / "official.json") if official else json.loads(stored.read_text())
    got = run(sys.executable, name, tmp_path / "ours.json")
    explained = {**EXPLAINED, **read(HERE / "cases" / f"{name}.py")[1]}
    missing = [e for e in got if e not in want]
    assert not missing, f"not among official's results, write them anew: {missing[:5]}"
    found = {e: verdict(want[e], r) for e, r in got.items()}
    unexplained = [f"{e}: {d}" for e, d in found.items() if d and e not in explained]
    assert not unexplained, "\n".join(unexplained)
    idle = [e for e in explained if e in found and not found[e]]
    assert not idle, f"explained, but no difference any more: {idle}"
