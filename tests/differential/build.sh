#!/usr/bin/env bash
# Builds the harness against a checkout of the reference: PLUMB_REFERENCE=/path/to/checkout build.sh OUTPUT
#
# Nothing is written to the checkout: the harness is laid over its module for this build, and the module file is a copy.
# PLUMB_REFERENCE_REPLACE names folders of modules that cannot be downloaded, as `module=folder`, separated by spaces.
set -euo pipefail

checkout=$(cd "${PLUMB_REFERENCE:?PLUMB_REFERENCE names a checkout of the reference}" && pwd)
output=$(realpath -m "${1:?the program to write}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$checkout/pkg/go.mod" "$work/go.mod"
cp "$checkout/pkg/go.sum" "$work/go.sum"
for replacement in ${PLUMB_REFERENCE_REPLACE:-}; do
    go mod edit -replace="$replacement" "$work/go.mod"
done

folder="$checkout/pkg/plumb-differential"
{
    printf '{"Replace": {'
    separator=
    for file in "$here"/harness/*.go; do
        printf '%s\n  "%s": "%s"' "$separator" "$folder/$(basename "$file")" "$file"
        separator=,
    done
    printf '\n}}\n'
} >"$work/overlay.json"

cd "$checkout/pkg"
go build -modfile="$work/go.mod" -overlay="$work/overlay.json" -o "$output" ./plumb-differential
