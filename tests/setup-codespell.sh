#!/usr/bin/env bash
# Installs the spell checker codespell from the Python package index, once, and prints its executable.
set -euo pipefail

version=2.4.3
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/.cache/venvs/codespell-$version
mkdir -p "$root/.cache/venvs"
if [ ! -f "$venv/.complete" ]; then
  rm -rf "$venv"
  "${PYTHON:-python3}" -m venv "$venv" >&2
  "$venv/bin/python" -m pip install --quiet "codespell==$version" >&2
  touch "$venv/.complete"
fi
echo "$venv/bin/codespell"
