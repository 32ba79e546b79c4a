"""Each test gets static mode, programs of its own, a scope of its own, and names that count from zero."""

import sys
from pathlib import Path

import paddle
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures"))


class Build:
    """Main and start-up program, and an executor."""

    def __init__(self):
        self.main, self.startup = paddle.static.Program(), paddle.static.Program()
        self.exe = paddle.static.Executor(paddle.CPUPlace())

    def start(self):
        self.exe.run(self.startup)
        return self

    def run(self, feed=None, fetch=(), program=None, **options):
        return self.exe.run(program or self.main, feed=feed, fetch_list=list(fetch), **options)


@pytest.fixture
def build():
    paddle.enable_static()
    made = Build()
    try:
        with (
            paddle.static.program_guard(made.main, made.startup),
            paddle.utils.unique_name.guard(),
            paddle.static.scope_guard(paddle.static.Scope()),
        ):
            yield made
    finally:
        paddle.disable_static()
