"""Loads the trained checkpoint in a new process and writes some text with it."""

import argparse

import numpy as np
from llama import Llama

import paddle


def generate(model, prompt, count, temperature, seed):
    random = np.random.RandomState(seed)
    ids = list(prompt.encode())
    with paddle.no_grad():
        for _ in range(count):
            window = ids[-model.context :]
            logits = model(paddle.to_tensor([window]))[0, -1].numpy().astype("float64") / temperature
            p = np.exp(logits - logits.max())
            ids.append(int(random.choice(len(p), p=p / p.sum())))
    return bytes(ids).decode(errors="replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", default="output/llama.pdparams")
    parser.add_argument("--prompt", default="def main():\n    ")
    parser.add_argument("--count", type=int, default=200)
    args = parser.parse_args()
    model = Llama()
    missing, unexpected = model.set_state_dict(paddle.load(args.checkpoint))
    assert not missing and not unexpected, (missing, unexpected)
    model.eval()
    print(generate(model, args.prompt, args.count, temperature=0.7, seed=1))


if __name__ == "__main__":
    main()
