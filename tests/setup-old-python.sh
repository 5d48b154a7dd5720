#!/usr/bin/env bash
# Makes a Python environment with an SDK from before version 3, once, and prints its folder.
#
#   tests/setup-old-python.sh
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/.cache/venvs/pulumi-2.25
mkdir -p "$root/.cache/venvs"
if [ ! -f "$venv/.complete" ]; then
  exec 9>"$venv.lock"
  flock 9
  if [ ! -f "$venv/.complete" ]; then
    rm -rf "$venv"
    "${PYTHON:-python3}" -m venv "$venv" >&2
    # Nothing newer can be loaded by code that was generated then.
    "$venv/bin/python" -m pip install --quiet "pulumi==2.25.2" "protobuf<3.21" six >&2
    touch "$venv/.complete"
  fi
fi
echo "$venv"
