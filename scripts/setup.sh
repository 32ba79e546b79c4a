#!/usr/bin/env bash
# Installs what building needs: Debian packages by name (as root, only those that are missing), and the Python environment .venv.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=$(grep -v '^#' scripts/packages.txt | tr '\n' ' ')
missing=""
for p in $packages; do
  dpkg -s "$p" >/dev/null 2>&1 || missing="$missing $p"
done
if [ -n "$missing" ]; then
  if [ "$(id -u)" != 0 ]; then
    echo "these Debian packages are missing; install them as root:$missing" >&2
    exit 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q
  # shellcheck disable=SC2086
  apt-get install -y -q --no-install-recommends $missing
fi

if [ ! -x .venv/bin/python ]; then python3 -m venv .venv; fi
stamp=.venv/.requirements
if ! cmp -s scripts/requirements.txt "$stamp"; then
  .venv/bin/pip install -q --disable-pip-version-check -r scripts/requirements.txt
  cp scripts/requirements.txt "$stamp"
fi
