#!/usr/bin/env bash
# All tests of a built tree: C++ by ctest, Python by pytest. Ends with one line that sums both runners.
set -uo pipefail
cd "$(dirname "$0")/.."
export OMP_WAIT_POLICY=PASSIVE PYTHONDONTWRITEBYTECODE=1
status=0
bash scripts/plugins.sh || status=1
ctest --test-dir build --output-on-failure -j2 > build/ctest.log 2>&1 || status=1
tail -n 25 build/ctest.log
.venv/bin/python -m pytest tests ${PYTEST_FLAGS:-} 2>&1 | tee build/pytest.log
[ "${PIPESTATUS[0]}" = 0 ] || status=1
logs=(build/ctest.log build/pytest.log)
[ ! -f build-sanitize/ctest.log ] || logs+=(build-sanitize/ctest.log)  # of the same tree, where the sanitizers ran before
.venv/bin/python scripts/summary.py "${logs[@]}" || status=1
exit $status
