#!/usr/bin/env bash
# The C++ tests under the address and undefined-behaviour sanitizers.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake -S . -B build-sanitize -G Ninja -DCMAKE_BUILD_TYPE=Release -DPADDLE_PYTHON=OFF -DPADDLE_SANITIZE=address,undefined \
  -DPython_EXECUTABLE="$PWD/.venv/bin/python" > /dev/null
cmake --build build-sanitize --target paddle_tests
ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 OMP_WAIT_POLICY=PASSIVE \
  ctest --test-dir build-sanitize --output-on-failure -j2 --label-exclude unsanitized
