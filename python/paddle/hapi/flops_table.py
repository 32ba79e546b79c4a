"""The table of operations that layers or a program take."""

from __future__ import annotations

__all__ = []


def _centred(text: str, width: int) -> str:
    """A space too many goes to the left of a text of even length, to the right of others."""
    left = (width - len(text) + (len(text) % 2 == 0)) // 2
    return (" " * left + text).ljust(width)


def report(head, rows, print_detail) -> int:
    """Prints the rows, whose last two items are parameters and operations, and their sums; the sum of operations."""
    if print_detail:
        cells = [[str(c) for c in row] for row in [head, *rows]]
        widths = [max(len(row[i]) for row in cells) + 2 for i in range(len(head))]
        rule = "+" + "+".join("-" * w for w in widths) + "+"
        lines = ["|" + "|".join(_centred(c, w) for c, w in zip(row, widths)) + "|" for row in cells]
        print("\n".join([rule, lines[0], rule, *lines[1:], rule]))
    total = sum(row[-1] for row in rows)
    print(f"Total Flops: {total}     Total Params: {sum(row[-2] for row in rows)}")
    return total
