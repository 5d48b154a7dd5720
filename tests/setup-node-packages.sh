#!/usr/bin/env bash
# Installs the published packages that generated ones are compared with, and the compiler, once; prints their folder.
#
# The folder is `.cache/node/sdks-<digest of this file>`. Running it again costs nothing; several may run at once. Needs Node.js
# and npm.
set -euo pipefail

packages=(
  @pulumi/pulumi@3.248.0
  @pulumi/random@4.21.2
  @pulumi/command@1.2.1
  @pulumi/docker@5.2.0
  @pulumi/std@2.3.2
  typescript@5.9
  @types/node@20
)

root=$(cd "$(dirname "$0")/.." && pwd)
digest=$(sha256sum "$0" | cut -c1-12)
folder=$root/.cache/node/sdks-$digest
mkdir -p "$root/.cache/node"

# The marker is written last: without it the folder is half done and is made anew.
if [ ! -f "$folder/.complete" ]; then
  exec 9>"$folder.lock"
  flock 9
  if [ ! -f "$folder/.complete" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    echo '{"private": true}' >"$folder/package.json"
    (cd "$folder" && npm install --ignore-scripts --no-audit --no-fund --silent "${packages[@]}" >&2)
    touch "$folder/.complete"
  fi
fi
echo "$folder"
