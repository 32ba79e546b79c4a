#!/usr/bin/env bash
# The main job. 1: the published demonstration over two processes. 2: a small Llama trained on the standard library's source.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=$PWD/.venv/bin/python
out=${DEMO_OUT:-output}
mkdir -p "$out"

echo "== 1. The published demonstration: two processes, sharded, static, compiled"
FLAGS_prim_enable_dynamic=true FLAGS_prim_all=true FLAGS_use_cinn=true \
  "$python" -u -m paddle.distributed.launch --gpus "0,1" --log_dir "$out/log" examples/demo/sharded.py

echo
echo "== 2. A small Llama on real text"
"$python" examples/demo/train.py --seconds "${DEMO_SECONDS:-110}" --out "$out"

echo
echo "== 3. The checkpoint in a new process"
"$python" examples/demo/generate.py --checkpoint "$out/llama.pdparams"
