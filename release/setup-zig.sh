#!/usr/bin/env bash
# Installs what builds programs for other systems: a C compiler with the C libraries of all of them (Zig), the command
# `cargo zigbuild` that uses it, and Rust's own libraries for the targets. Prints the folder to put on PATH.
#
#   release/setup-zig.sh [TARGET..]
set -euo pipefail
cd "$(dirname "$0")/.."
zig=0.17.1 zigbuild=0.24.1
folder=$PWD/.cache/zig-$zig-$zigbuild
if [ ! -e "$folder/done" ]; then
  rm -rf "$folder"
  python3 -m venv "$folder" >&2
  "$folder/bin/pip" install --quiet --disable-pip-version-check "ziglang==$zig" "cargo-zigbuild==$zigbuild" >&2
  touch "$folder/done"
fi
[ $# -eq 0 ] || rustup target add "$@" >&2
echo "$folder/bin"
