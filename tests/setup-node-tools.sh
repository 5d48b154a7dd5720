#!/usr/bin/env bash
# Installs pnpm, yarn, Bun and the language server for YAML, once, and prints the folder with their executables.
#
#   tests/setup-node-tools.sh
#
# They are in `.cache/node/tools-HASH`, a folder for each list of packages. Running it again costs nothing; several may run at once.
set -euo pipefail

packages=(pnpm@10.34.9 yarn@1.22.22 bun@1.4.5 yaml-language-server@1.25.0)

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$root/.cache/node/tools-$(printf '%s\n' "${packages[@]}" | sha256sum | cut -c1-12)
mkdir -p "$root/.cache/node"

# The marker is written last: without it the folder is half done, and made again.
if [ ! -f "$folder/.complete" ]; then
  exec 9>"$folder.lock"
  flock 9
  if [ ! -f "$folder/.complete" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    echo '{"private": true}' >"$folder/package.json"
    npm install --prefix "$folder" --silent --no-audit --no-fund "${packages[@]}" >&2
    touch "$folder/.complete"
  fi
fi
echo "$folder/node_modules/.bin"
