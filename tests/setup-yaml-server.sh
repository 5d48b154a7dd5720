#!/usr/bin/env bash
# Installs the language server for YAML, once, and prints its executable.
#
#   tests/setup-yaml-server.sh
#
# It is in `.cache/node/yaml-server`. Running it again costs nothing; several may run at once.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$root/.cache/node/yaml-server
mkdir -p "$root/.cache/node"

# The marker is written last: without it the folder is half done, and made again.
if [ ! -f "$folder/.complete" ]; then
  exec 9>"$folder.lock"
  flock 9
  if [ ! -f "$folder/.complete" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    echo '{"private": true}' >"$folder/package.json"
    npm install --prefix "$folder" --silent --no-audit --no-fund yaml-language-server@1.25.0 >&2
    touch "$folder/.complete"
  fi
fi
echo "$folder/node_modules/.bin/yaml-language-server"
