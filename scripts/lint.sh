#!/usr/bin/env bash
# Style and structure; nothing is changed.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/ruff check --no-cache .
git ls-files '*.cc' '*.h' | xargs clang-format --dry-run --Werror
.venv/bin/python scripts/check_layers.py
.venv/bin/python scripts/check_imports.py
echo "lint: clean"
