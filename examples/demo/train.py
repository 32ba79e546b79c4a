"""Trains the small Llama on the Python standard library for a given time, compiled; saves a checkpoint and the loss curve."""

import argparse
import json
import math
import sys
import time

import numpy as np
from llama import Llama
from text import bigram_bits, standard_library

import paddle


def batches(data, size, length, seed):
    random = np.random.RandomState(seed)
    while True:
        starts = random.randint(0, len(data) - length - 1, size=size)
        rows = np.stack([data[s : s + length + 1] for s in starts]).astype("int64")
        yield paddle.to_tensor(rows[:, :-1]), paddle.to_tensor(rows[:, 1:])


def validation_bits(step, data, length, size, windows=64):
    """Bits per byte over evenly spaced windows."""
    starts = np.linspace(0, len(data) - length - 1, windows).astype(int)
    total = 0.0
    with paddle.no_grad():
        for i in range(0, windows, size):
            rows = np.stack([data[s : s + length + 1] for s in starts[i : i + size]]).astype("int64")
            total += float(step(paddle.to_tensor(rows[:, :-1]), paddle.to_tensor(rows[:, 1:]))) * len(rows)
    return total / windows / math.log(2)


class Progress:
    """One line that is rewritten on a terminal, and now and then a line elsewhere."""

    def __init__(self):
        self.terminal, self.shown = sys.stderr.isatty(), 0.0

    def show(self, text):
        now = time.time()
        if now - self.shown < (0.2 if self.terminal else 15):
            return
        self.shown = now
        print(text, end="\r" if self.terminal else "\n", file=sys.stderr, flush=True)


def draw(history, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    seconds, bits = zip(*history["train"])
    window = min(20, len(bits))
    smooth = np.convolve(bits, np.ones(window) / window, mode="valid")
    plt.figure(figsize=(7, 4))
    plt.plot(seconds, bits, color="0.8", linewidth=0.6, label="training, each step")
    plt.plot(seconds[len(seconds) - len(smooth) :], smooth, label=f"training, mean of {window}")
    plt.plot(*zip(*history["valid"]), "o-", label="validation")
    plt.axhline(history["bigram"], linestyle="--", color="0.5", label="bigram model")
    plt.xlabel("seconds")
    plt.ylabel("bits per byte")
    plt.legend()
    plt.tight_layout()
    plt.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=110)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--out", default="output")
    parser.add_argument("--eager", action="store_true", help="don't compile")
    args = parser.parse_args()
    paddle.seed(1)
    train, valid, files = standard_library()
    bigram = bigram_bits(train, valid)
    print(f"text: {files} files, {len(train):,} bytes to train on, {len(valid):,} to validate; bigram model {bigram:.2f} bits per byte")
    model = Llama()
    print(f"model: {sum(p.size for p in model.parameters()):,} parameters")
    step_fn = model if args.eager else paddle.jit.to_static(model)
    clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    optimizer = paddle.optimizer.AdamW(
        learning_rate=3e-3, beta2=0.95, weight_decay=0.1, parameters=model.parameters(), grad_clip=clip
    )
    progress, history = Progress(), {"train": [], "valid": [], "bigram": bigram}
    feed = batches(train, args.batch, model.context, seed=1)
    began, step, tokens = time.time(), 0, 0
    next_check = args.seconds / 4
    while (spent := time.time() - began) < args.seconds:
        # Warm up over 3 % of the time, then a cosine down to a tenth.
        done = spent / args.seconds
        optimizer.set_lr(3e-3 * min(1.0, done / 0.03 + 0.05) * (0.1 + 0.45 * (1 + math.cos(math.pi * done))))
        ids, labels = next(feed)
        loss = step_fn(ids, labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        step, tokens = step + 1, tokens + ids.size
        bits = float(loss) / math.log(2)
        spent = time.time() - began
        history["train"].append((spent, bits))
        left = max(args.seconds - spent, 0)
        progress.show(f"step {step}  loss {bits:.3f} bits per byte  {tokens / spent:,.0f} tokens/s  {left:.0f} s left")
        if spent > next_check:
            history["valid"].append((spent, validation_bits(step_fn, valid, model.context, args.batch)))
            next_check += args.seconds / 4
    final = validation_bits(step_fn, valid, model.context, args.batch, windows=256)
    spent = time.time() - began
    history["valid"].append((spent, final))
    print(f"trained {step} steps, {tokens:,} tokens in {spent:.0f} s ({tokens / spent:,.0f} tokens/s)")
    print(f"validation: {final:.2f} bits per byte (bigram model: {bigram:.2f})")
    paddle.save(model.state_dict(), f"{args.out}/llama.pdparams")
    paddle.save(optimizer.state_dict(), f"{args.out}/llama.pdopt")
    draw(history, f"{args.out}/loss.png")
    with open(f"{args.out}/history.json", "w") as f:
        json.dump(history, f)
    print(f"saved {args.out}/llama.pdparams, {args.out}/llama.pdopt, {args.out}/loss.png")


if __name__ == "__main__":
    main()
