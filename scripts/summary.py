"""Adds up what ctest and pytest said, and prints `N passed, N failed, N skipped` as the last line. A log that is missing, or in
which the runner came to no end, counts as one failure.
"""

import re
import sys
from pathlib import Path


def ctest(text: str):
    match = re.search(r"(\d+)% tests passed, (\d+) tests failed out of (\d+)", text)
    return (int(match[3]) - int(match[2]), int(match[2]), 0) if match else (0, 1, 0)


def pytest(text: str):
    lines = [line for line in text.splitlines() if re.search(r"\d+ (passed|failed|error|skipped)", line)]
    if not lines:
        return 0, 1, 0
    count = lambda word: sum(int(n) for n in re.findall(rf"(\d+) {word}", lines[-1]))
    return count("passed") + count("xfailed"), count("failed") + count("error"), count("skipped")


def main() -> int:
    totals = [0, 0, 0]
    for name in sys.argv[1:]:
        path = Path(name)
        text = path.read_text(errors="replace") if path.exists() else ""
        for i, n in enumerate(ctest(text) if "ctest" in path.name else pytest(text)):
            totals[i] += n
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if totals[1] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main())
