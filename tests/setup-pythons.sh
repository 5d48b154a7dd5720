#!/usr/bin/env bash
# Makes an environment with the official SDK for every other Python of this machine, once, and prints their interpreters.
#
#   tests/setup-pythons.sh VERSION
#
# VERSION is that of the PyPI package `pulumi`, as for `tests/setup-python.sh`. Looked for are Python 3.9 to 3.13, on the PATH
# and where pyenv keeps them; the one that is the default is left out. Python 3.9 gets the last SDK that runs on it, 3.201.
# Running it again costs little; several may run at once.
set -euo pipefail

if [ $# -ne 1 ] || ! [[ $1 =~ ^[0-9]+\.[0-9]+$ ]]; then
  echo "usage: $0 VERSION" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$root/.cache/venvs"
default=$(python3 -c 'import sys; print(sys.version_info.minor)')

# The first interpreter of this version that starts: shims on the PATH may have nothing behind them.
interpreter() {
  local candidate
  for candidate in "$(command -v "python3.$1" || true)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"3.$1".*/bin/python; do
    if [ -x "$candidate" ] && "$candidate" -c '' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
}

for minor in 9 10 11 12 13; do
  [ "$minor" != "$default" ] || continue
  python=$(interpreter "$minor")
  [ -n "$python" ] || continue
  version=$1
  [ "$minor" != 9 ] || version=3.201
  venv=$root/.cache/venvs/pulumi-$version-python3.$minor
  (
    flock 9
    if [ ! -f "$venv/.complete" ]; then
      rm -rf "$venv"
      "$python" -m venv "$venv" >&2
      "$venv/bin/python" -m pip install --quiet "pulumi==$version.*" grpcio protobuf pyyaml >&2
      touch "$venv/.complete"
    fi
  ) 9>"$venv.lock"
  echo "$venv/bin/python"
done
