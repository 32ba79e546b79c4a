#!/usr/bin/env bash
# The C++ tests under the address and undefined-behaviour sanitizers (tests that carry the ctest label "unsanitized" are left out), then
# the collectives whose ranks are threads under the thread sanitizer (it cannot follow the tests that fork).
set -euo pipefail
cd "$(dirname "$0")/.."
log=build-sanitize/ctest.log
rm -f $log

configure() { # folder, sanitizers
  cmake -S . -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPADDLE_PYTHON=OFF -DPADDLE_SANITIZE="$2" \
    -DPython_EXECUTABLE="$PWD/.venv/bin/python" > /dev/null
}

configure build-sanitize address,undefined
cmake --build build-sanitize --target paddle_tests
configure build-sanitize/threads thread
cmake --build build-sanitize/threads --target comm_test

status=0
PADDLE_FUZZ_COUNT=2000 OMP_WAIT_POLICY=PASSIVE UBSAN_OPTIONS=print_stacktrace=1 \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=2500:detect_stack_use_after_return=1 \
  ctest --test-dir build-sanitize --output-on-failure -j2 --label-exclude unsanitized > $log 2>&1 || status=1
tail -n $((status ? 300 : 40)) $log
OMP_NUM_THREADS=1 build-sanitize/threads/tests/comm/comm_test --gtest_brief=1 \
  --gtest_filter='-Gloo.*:*.Processes/*:*.SharedMemory/*:SharedMemory.*:*DeadProcess*' || status=1
exit $status
