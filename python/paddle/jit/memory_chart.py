"""What lies in the memory of compiled programs, and what is kept for gradients, as text and as a drawing."""

from __future__ import annotations

import html


def _megabytes(n: int) -> str:
    return f"{n / 1e6:.3f} MB"


def cut_lines(cut: list[tuple[bool, str, int, str]]) -> list[str]:
    """One line for each value that a forward part keeps, and each that the backward part computes again."""
    if not cut:
        return []
    kept = sum(size for is_kept, _, size, _ in cut if is_kept)
    again = sum(size for is_kept, _, size, _ in cut if not is_kept)
    lines = [f"kept for the gradient: {_megabytes(kept)}; computed again: {_megabytes(again)}"]
    for is_kept, what, size, why in cut:
        lines.append(f"     {'kept' if is_kept else 'again'} {_megabytes(size)} {what}: {why}")
    return lines


def memory_lines(part: dict) -> list[str]:
    """A program's arena, and what is alive at the instruction where most is, the largest first."""
    peak = part["peak"]
    alive = sorted((r for r in part["rows"] if r[4] <= peak <= r[5]), key=lambda r: -r[2])
    lines = [
        f"memory of {part['name']}: arena {_megabytes(part['arena'])} (no layout takes less than {_megabytes(part['least'])});"
        f" most, {_megabytes(sum(r[2] for r in alive))}, at instruction {peak}: {part['operations'][peak]}"
    ]
    lines += [
        f"     {_megabytes(size)} in {where} from {first} to {last}: {what}"
        for what, where, size, _, first, last in alive
    ]
    return lines


def memory_chart(part: dict) -> str:
    """Buffers over instructions (SVG): to the right instructions, upwards addresses of the arena."""
    width, height, steps = 900, 360, max(1, len(part["operations"]))
    scale = height / max(1, part["arena"])
    boxes = []
    for what, where, size, offset, first, last in part["rows"]:
        if where != "arena":
            continue
        title = html.escape(f"{what}: {_megabytes(size)}, instructions {first} to {last}")
        boxes.append(
            f'<rect x="{first * width / steps:.1f}" y="{height - (offset + size) * scale:.1f}" '
            f'width="{(last - first + 1) * width / steps:.1f}" height="{size * scale:.1f}" fill="#3b75af" '
            f'fill-opacity=".55" stroke="#fff" stroke-width=".5"><title>{title}</title></rect>'
        )
    at = (part["peak"] + 0.5) * width / steps
    line = f'<line x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{height}" stroke="#b33"/>'
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img">{"".join(boxes)}{line}</svg>'
