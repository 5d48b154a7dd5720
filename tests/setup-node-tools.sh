#!/usr/bin/env bash
# Installs pnpm, yarn and Bun, once, and prints the folder with their executables.
#
#   tests/setup-node-tools.sh
#
# They are in `.cache/node/tools`. Running it again costs nothing; several may run at once.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$root/.cache/node/tools
mkdir -p "$root/.cache/node"

# The marker is written last: without it the folder is half done and is made anew.
if [ ! -f "$folder/.complete" ]; then
  exec 9>"$folder.lock"
  flock 9
  if [ ! -f "$folder/.complete" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    echo '{"private": true}' >"$folder/package.json"
    npm install --prefix "$folder" --silent --no-audit --no-fund pnpm@10.34.9 yarn@1.22.22 bun@1.4.5 >&2
    touch "$folder/.complete"
  fi
fi
echo "$folder/node_modules/.bin"
