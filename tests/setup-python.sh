#!/usr/bin/env bash
# Makes a Python environment with the official SDK, once, and prints its folder.
#
#   tests/setup-python.sh VERSION [PACKAGE]
#
# VERSION is that of the PyPI package `pulumi`: `3.259` (its newest release) or `3.259.0`. PACKAGE is another one to install
# beside it, such as `pulumi-policy`.
#
# The environment is `.cache/venvs/pulumi-VERSION[-PACKAGE]` and also holds what the lab provider in `tests/lab` needs.
# Running it again costs nothing; several may run at once.
set -euo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ] || ! [[ $1 =~ ^[0-9]+\.[0-9]+(\.[0-9]+)?$ ]]; then
  echo "usage: $0 VERSION [PACKAGE]" >&2
  exit 2
fi
version=$1
package=${2:-}
requirement="pulumi==$version"
[[ $version =~ ^[0-9]+\.[0-9]+$ ]] && requirement="pulumi==$version.*"

root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/.cache/venvs/pulumi-$version${package:+-$package}
mkdir -p "$root/.cache/venvs"

# The marker is written last: without it the environment is half done and is made anew.
if [ ! -f "$venv/.complete" ]; then
  exec 9>"$venv.lock"
  flock 9
  if [ ! -f "$venv/.complete" ]; then
    rm -rf "$venv"
    "${PYTHON:-python3}" -m venv "$venv" >&2
    "$venv/bin/python" -m pip install --quiet "$requirement" grpcio protobuf pyyaml $package >&2
    "$venv/bin/python" -c 'import grpc, pulumi.runtime.proto' >&2
    touch "$venv/.complete"
  fi
fi
echo "$venv"
