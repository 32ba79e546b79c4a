"""A forked child computes products, whatever the parent had computed before."""

import subprocess
import sys

PROGRAM = """
import os, signal, paddle
a = paddle.ones([100, 100])
a @ a
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(0 if float((a @ a).sum()) == 1e6 else 1)
raise SystemExit(os.waitpid(child, 0)[1])
"""


def test_a_product_in_a_child_after_one_in_the_parent():
    assert subprocess.run([sys.executable, "-c", PROGRAM], timeout=120).returncode == 0
