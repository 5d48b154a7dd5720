#!/usr/bin/env bash
# Installs the published packages that generated ones are compared with, and what checks types, once; prints their folder.
#
# The folder is `.cache/venvs/packages-<digest of this file>`: an environment with the core SDK and the checker, and `published`
# within it, where the packages are. Running it again costs nothing; several may run at once.
set -euo pipefail

published=(
  pulumi-random==4.21.4
  pulumi-command==1.2.1
  pulumi-docker==5.2.0
  pulumi-std==2.3.2
  pulumi-eks==4.4.0
)
tools=(
  'pulumi==3.259.*'
  'mypy==1.18.*'
  'packaging>=24.0'
  setuptools
  wheel
  tomli
)

root=$(cd "$(dirname "$0")/.." && pwd)
digest=$(sha256sum "$0" | cut -c1-12)
folder=$root/.cache/venvs/packages-$digest
mkdir -p "$root/.cache/venvs"

# The marker is written last: without it the folder is half done and is made anew.
if [ ! -f "$folder/.complete" ]; then
  exec 9>"$folder.lock"
  flock 9
  if [ ! -f "$folder/.complete" ]; then
    rm -rf "$folder"
    "${PYTHON:-python3}" -m venv "$folder" >&2
    "$folder/bin/python" -m pip install --quiet "${tools[@]}" >&2
    "$folder/bin/python" -m pip install --quiet --no-deps --target "$folder/published" "${published[@]}" >&2
    touch "$folder/.complete"
  fi
fi
echo "$folder"
