"""Writes docs/models.md: what each model of the collection uses, whether it exports, how fast it runs compiled.

    OMP_NUM_THREADS=1 python tests/models/page.py [--rounds 7] [--official PYTHON] [--times FILE ...]

With an interpreter that has official Paddle, its results are compared too. The times may come from files: what
benchmarks/models.py printed, for some models each, where the machine was quiet.
"""

import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "benchmarks")]

import features  # noqa: E402
import measures  # noqa: E402
import models as speed  # noqa: E402  (benchmarks/models.py)
import paddle  # noqa: E402
from zoo import load_all  # noqa: E402

HEAD = """# The collection of models

`tests/models/zoo` holds {count} small models of {families} families, written as users of Paddle write them. Each is captured whole
(`paddle.jit.to_static(full_graph=True)`), saved with open sizes by `paddle.jit.save`, and read by a process that doesn't have its source;
results at two batch sizes are those of eager within 1e-5 of the largest value (the last table names the exceptions), and gradients of
compiled training steps are eager's. `tests/models/test_export_collection.py` tests it, `tests/models/compare_official.py` runs the same files
with the same weights under official Paddle, and with `--programs` official Paddle on the saved programs: it runs 115 of 124 with our results. The
other nine hold an assertion, a list that grows in a loop, or overlapping frames, for which its files have no operation. This page is
written by `tests/models/page.py`.

- {exported} of {count} export; {control} have branches or loops on tensors in the exported program; {either} have those, or lists appended
  in loops, dict results, `break`, `continue`, or a `return` from within a branch or loop.
- {speed}.
{official}
Columns: **if**, **while**: operators of the exported program; **exit**: `break` or `continue`; **return**: from within a branch or loop;
**list**: appended in loops; **dict**: result; **exported**: the larger of two batches' differences from eager, relative to the largest
value; **ratio**: CPU time of the compiled model over eager's, inference, one thread, the least of {rounds} rounds.

"""
COLUMNS = ("if", "while", "break", "return", "append", "dict")


def exported(entry, folder):
    """(largest difference from eager, the program's text)."""
    layer = entry.build(paddle)
    layer.eval()
    inputs = {b: [paddle.to_tensor(a) for a in entry.arrays(b)] for b in entry.batches}
    wanted = {b: measures.arrays(layer(*args)) for b, args in inputs.items()}
    path = os.path.join(folder, entry.name)
    paddle.jit.save(paddle.jit.to_static(layer, full_graph=True), path, input_spec=entry.spec(paddle))
    loaded = paddle.jit.load(path)
    found = max(measures.worst(measures.arrays(loaded(*inputs[b])), wanted[b]) for b in entry.batches)
    return found, str(loaded.program())


def measured(files):
    """(eager, compiled) in seconds by model, from what benchmarks/models.py printed."""
    found = {}
    for name in files:
        with open(name) as f:
            for line in f:
                words = line.split()
                if len(words) == 4 and words[3].replace(".", "").isdigit():
                    found[words[0]] = float(words[1]) / 1e6, float(words[2]) / 1e6
    return found


def row(entry, folder, rounds, times):
    uses = features.of_source(type(entry.make())) if entry.family != "library" else set()
    try:
        difference, text = exported(entry, folder)
        uses |= features.of_program(text)
        good = difference <= entry.tolerance
        shown = f"{difference:.0e}" if good else f"**{difference:.0e}**"
    except Exception as error:
        good, shown = False, type(error).__name__
    return {"uses": uses, "good": good, "shown": shown, "times": times or speed.measure(entry, 0, rounds, 0.02)}


def page(rows, models, rounds, official):
    used = [r["uses"] for r in rows.values()]
    head = HEAD.format(
        count=len(rows), families=len({m.family for m in models.values()}), exported=sum(r["good"] for r in rows.values()),
        control=sum(bool(u & {"if", "while"}) for u in used), either=sum(bool(u) for u in used), rounds=rounds,
        speed="Compiled against eager: " + speed.summary({n: r["times"] for n, r in rows.items()}), official=official,
    )  # fmt: skip
    lines = ["| family | model | what it is | if | while | exit | return | list | dict | exported | ratio |"]
    lines += ["|" + "---|" * 11]
    for name, r in sorted(rows.items(), key=lambda item: (models[item[0]].family, item[0])):
        marks = " | ".join("x" if c in r["uses"] else "" for c in COLUMNS)
        a, b = r["times"]
        m = models[name]
        lines.append(f"| {m.family} | {name} | {m.doc.rstrip('.')} | {marks} | {r['shown']} | {b / a:.2f} |")
    lines += ["", "Wider tolerances, and models without a gradient test:", "", "| model | tolerance | why |", "|---|---|---|"]
    for name, m in sorted(models.items()):
        if m.why:
            lines.append(f"| {name} | {m.tolerance:.0e} | {m.why if m.trains else 'no gradient: ' + m.why} |")
    return head + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--official")
    parser.add_argument("--times", nargs="*", default=[])
    parser.add_argument("--out", default=os.path.join(HERE, "..", "..", "docs", "models.md"))
    given = parser.parse_args()
    models, rows, times = load_all(), {}, measured(given.times)
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(models):
            rows[name] = row(models[name], folder, given.rounds, times.get(name))
            a, b = rows[name]["times"]
            print(f"{name:24s} {rows[name]['shown']:8s} {a * 1e6:8.0f} {b * 1e6:8.0f} {b / a:.2f}", flush=True)
    official = ""
    if given.official:
        from compare_official import compare

        found = compare(sorted(models), given.official)
        agree = sum(not isinstance(v, str) and v <= 10 * models[n].tolerance for n, v in found.items())
        official = f"- Official Paddle's eager results with the same weights agree for {agree} (1e-4 of the largest value).\n"
    text = page(rows, models, given.rounds, official)
    with open(given.out, "w") as f:
        f.write(text)


if __name__ == "__main__":
    main()
