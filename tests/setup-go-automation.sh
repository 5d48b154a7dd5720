#!/usr/bin/env bash
# Fetches and compiles the Automation API of the official Go SDK, once, and prints the folder that holds it.
#
#   tests/setup-go-automation.sh [VERSION]
#
# VERSION is that of `tests/setup-go.sh`, which is run first; the folder is the same. `automation-VERSION` in it has the
# `go.mod` and `go.sum` of programs with the Automation API, which needs more modules than others.
# Running it again costs nothing; several may run at once.
set -euo pipefail

version=${1:-3.260.0}
root=$(cd "$(dirname "$0")/.." && pwd)
cache=$("$root/tests/setup-go.sh" "$version")
folder=$cache/automation-$version
export GOMODCACHE=$cache/mod GOCACHE=$cache/build GOFLAGS=-buildvcs=false

# The marker is written last: without it the folder is half done and is made anew.
if [ ! -f "$folder/.complete" ]; then
  exec 9>"$folder.lock"
  flock 9
  if [ ! -f "$folder/.complete" ]; then
    rm -rf "$folder"
    mkdir "$folder"
    cp "$cache/sdk-$version/go.mod" "$cache/sdk-$version/go.sum" "$folder"
    cd "$folder"
    cat >automation_test.go <<'GO'
package automation

import (
	_ "github.com/pulumi/pulumi/sdk/v3/go/auto"
	_ "github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)
GO
    go mod tidy >&2
    go test -c -ldflags "-w -s" -o /dev/null >&2
    rm automation_test.go
    touch .complete
  fi
fi
echo "$cache"
