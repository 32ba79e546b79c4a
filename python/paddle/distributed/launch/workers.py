"""The rank processes: started, watched, stopped; their logs."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time

_POLL = 0.1  # seconds


def command(script: str, arguments: list[str]) -> list[str]:
    if script.endswith(".py"):
        return [sys.executable, "-u", script, *arguments]
    if script.endswith(".pyxes"):
        return [sys.executable, script, *arguments]
    return [script, *arguments]


def _die_with_launcher() -> None:
    """In the child: the kernel ends it when the launcher is killed outright."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


class Worker:
    """One rank. Its output goes straight to its log, so nothing is lost whatever happens to the launcher."""

    def __init__(self, rank: int, local_rank: int, argv: list[str], env: dict[str, str], log_dir: str, overwrite: bool):
        self.rank, self.argv, self.env = rank, argv, env
        self.path = os.path.join(log_dir, f"workerlog.{local_rank}") if log_dir else None
        self._mode = "w" if overwrite else "a"
        self._process: subprocess.Popen | None = None
        self._reader = None
        self.log_start = 0

    def start(self) -> None:
        out = None
        if self.path:
            os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
            out = open(self.path, self._mode, encoding="utf-8")  # noqa: SIM115
            self._mode = "a"
            self.log_start = os.path.getsize(self.path)
            self._reader = open(self.path, encoding="utf-8", errors="replace")  # noqa: SIM115
            self._reader.seek(self.log_start)
        try:
            self._process = subprocess.Popen(
                self.argv,
                env=self.env,
                stdout=out,
                stderr=subprocess.STDOUT if out else None,
                start_new_session=True,
                preexec_fn=_die_with_launcher,
            )
        finally:
            if out:
                out.close()

    @property
    def code(self) -> int | None:
        """Exit code, -signal if it was killed by one, None while it runs."""
        return self._process.poll() if self._process else None

    def send(self, number: int) -> None:
        """A signal, to the rank and all it started."""
        if self._process and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def echo(self) -> None:
        """Prints what the log has got since the last time."""
        if self._reader:
            text = self._reader.read()
            if text:
                sys.stdout.write(text)
                sys.stdout.flush()

    def tail(self, length: int = 3000) -> str:
        """The end of what this run wrote, from the traceback on if there is one in reach."""
        if not self.path:
            return ""
        with open(self.path, "rb") as f:
            size = f.seek(0, os.SEEK_END)
            f.seek(max(self.log_start, size - 8 * length))
            text = f.read().decode(errors="replace")
        at = text.rfind("Traceback (most recent call last)")
        return text[at:] if 0 <= at and len(text) - at > length else text[-length:]

    def describe_end(self) -> str:
        if self.code is not None and self.code < 0:
            with contextlib.suppress(ValueError):
                return f"was killed by {signal.Signals(-self.code).name}"
        return f"ended with exit code {self.code}"


class Group:
    """The ranks of this node."""

    def __init__(self, workers: list[Worker]):
        self.workers = workers

    def start(self) -> None:
        for worker in self.workers:
            worker.start()

    def watch(self, stopped) -> Worker | None:
        """Returns the first rank that fails; None when all did well or ``stopped()``. Shows the first rank's output."""
        while not stopped():
            codes = [w.code for w in self.workers]
            self.workers[0].echo()
            failed = [w for w, code in zip(self.workers, codes) if code]
            if failed:
                # Of several that fell together, those killed by a signal were mostly ended by others.
                return next((w for w in failed if w.code > 0), failed[0])
            if all(code == 0 for code in codes):
                return None
            time.sleep(_POLL)
        return None

    def stop(self, number: int = signal.SIGTERM, grace: float = 3.0) -> None:
        """Passes a signal on, and kills what still runs after ``grace`` seconds."""
        for worker in self.workers:
            worker.send(number)
        deadline = time.monotonic() + grace
        while any(w.code is None for w in self.workers):
            if time.monotonic() > deadline:
                for worker in self.workers:
                    worker.send(signal.SIGKILL)
                deadline = time.monotonic() + 60
            time.sleep(0.02)
        self.workers[0].echo()
