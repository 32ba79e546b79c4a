"""Where the files written by official paddle lie, and the tables they were made from."""

import pathlib
import sys

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
sys.path.insert(0, str(FIXTURES))

from cases import OPTIMIZERS, SCHEDULES, make_schedule  # noqa: E402, F401
