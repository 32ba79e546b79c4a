"""Adds up what ctest and pytest said, and prints `N passed, N failed, N skipped` as the last line."""

import re
import sys


def ctest(text: str):
    match = re.search(r"(\d+)% tests passed, (\d+) tests failed out of (\d+)", text)
    return (int(match[3]) - int(match[2]), int(match[2]), 0) if match else (0, 0, 0)


def pytest(text: str):
    lines = [line for line in text.splitlines() if re.search(r"\d+ (passed|failed|error|skipped)", line)]
    last = lines[-1] if lines else ""
    count = lambda word: sum(int(n) for n in re.findall(rf"(\d+) {word}", last))
    return count("passed") + count("xfailed"), count("failed") + count("error"), count("skipped")


def main() -> int:
    totals = [0, 0, 0]
    for path in sys.argv[1:]:
        text = open(path, errors="replace").read()
        for i, n in enumerate(ctest(text) if "ctest" in path else pytest(text)):
            totals[i] += n
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if totals[1] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main())
