#!/usr/bin/env bash
# Makes a Python environment with moto, which serves AWS KMS, and with what pretended key services encrypt with, once; prints
# its folder.
#
# The environment is `.cache/venvs/key-services-<digest of this file>`. Running it again costs nothing; several may run at once.
set -euo pipefail

packages=('moto[kms]==5.*' flask flask-cors 'cryptography>=44')

root=$(cd "$(dirname "$0")/.." && pwd)
digest=$(sha256sum "$0" | cut -c1-12)
venv=$root/.cache/venvs/key-services-$digest
mkdir -p "$root/.cache/venvs"

# The marker is written last: without it the environment is half done and is made anew.
if [ ! -f "$venv/.complete" ]; then
  exec 9>"$venv.lock"
  flock 9
  if [ ! -f "$venv/.complete" ]; then
    rm -rf "$venv"
    "${PYTHON:-python3}" -m venv "$venv" >&2
    "$venv/bin/python" -m pip install --quiet "${packages[@]}" >&2
    "$venv/bin/python" -c 'import cryptography.x509, moto.server' >&2
    touch "$venv/.complete"
  fi
fi
echo "$venv"
