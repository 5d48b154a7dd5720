#!/usr/bin/env bash
# Makes a Python environment with a grammar of C#, once, and prints its folder. There is no need for .NET.
#
# The folder is `.cache/venvs/csharp-grammar-<digest of this file>`. Running it again costs nothing; several may run at once.
set -euo pipefail

packages=(
  tree-sitter==0.25.2
  tree-sitter-c-sharp==0.23.1
)

root=$(cd "$(dirname "$0")/.." && pwd)
digest=$(sha256sum "$0" | cut -c1-12)
folder=$root/.cache/venvs/csharp-grammar-$digest
mkdir -p "$root/.cache/venvs"

# The marker is written last: without it the environment is half done and is made anew.
if [ ! -f "$folder/.complete" ]; then
  exec 9>"$folder.lock"
  flock 9
  if [ ! -f "$folder/.complete" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" >&2
    touch "$folder/.complete"
  fi
fi
echo "$folder"
