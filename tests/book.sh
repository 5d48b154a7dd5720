#!/usr/bin/env bash
# Builds the book, and fails when mdBook warns of anything.
#
#   tests/book.sh MDBOOK
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" build --dest-dir "$folder/book" 2>&1 | tee "$folder/said"
! grep -E 'WARN|ERROR' "$folder/said"
