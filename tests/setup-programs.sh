#!/usr/bin/env bash
# Makes a folder with what checks and runs programs made of PCL, once, and prints it: a Python environment `venv` with the
# official SDK, the packages of the built-in providers and pyright, and `node_modules` with the same for Node.js and TypeScript.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$root/.cache/programs
mkdir -p "$root/.cache"

# The marker is written last: without it the folder is half done and is made again.
if [ ! -f "$folder/.complete" ]; then
  exec 9>"$folder.lock"
  flock 9
  if [ ! -f "$folder/.complete" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    "${PYTHON:-python3}" -m venv "$folder/venv" >&2
    "$folder/venv/bin/python" -m pip install --quiet "pulumi==3.259.*" pulumi-random pulumi-command pulumi-std pyright >&2
    cd "$folder"
    echo '{"private": true}' > package.json
    npm install --silent --no-audit --no-fund @pulumi/pulumi@3.248.0 @pulumi/random @pulumi/command @pulumi/std typescript@5 @types/node@20 >&2
    touch "$folder/.complete"
  fi
fi
echo "$folder"
