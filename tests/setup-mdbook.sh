#!/usr/bin/env bash
# Builds mdBook from crates.io, once, and prints its executable. That takes some minutes.
set -euo pipefail

version=0.5.4
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$root/.cache/mdbook-$version
if [ ! -x "$folder/bin/mdbook" ]; then
  target=$(mktemp -d)
  trap 'rm -rf "$target"' EXIT
  CARGO_TARGET_DIR=$target cargo install mdbook --version "$version" --locked --root "$folder" >&2
fi
echo "$folder/bin/mdbook"
