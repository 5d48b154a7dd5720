#!/usr/bin/env bash
# Fetches and compiles the official Go SDK, once, and prints the folder that holds it.
#
#   tests/setup-go.sh [VERSION]
#
# VERSION is that of the module `github.com/pulumi/pulumi/sdk/v3` (3.260.0). The folder is `.cache/go`: `mod` is the module
# cache, `build` the build cache, and `sdk-VERSION` has the `go.mod` and `go.sum` of programs with that SDK.
# Running it again costs nothing; several may run at once.
set -euo pipefail

if [ $# -gt 1 ] || ! [[ ${1:-3.260.0} =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
  echo "usage: $0 [VERSION]" >&2
  exit 2
fi
version=${1:-3.260.0}

root=$(cd "$(dirname "$0")/.." && pwd)
cache=$(mkdir -p "$root/.cache/go" && cd -P "$root/.cache/go" && pwd)
sdk=$cache/sdk-$version
export GOMODCACHE=$cache/mod GOCACHE=$cache/build GOFLAGS=-buildvcs=false

# The marker is written last: without it the folder is half done and is made anew.
if [ ! -f "$sdk/.complete" ]; then
  exec 9>"$sdk.lock"
  flock 9
  if [ ! -f "$sdk/.complete" ]; then
    rm -rf "$sdk"
    mkdir "$sdk"
    cd "$sdk"
    printf 'module program\n\ngo 1.24\n' >go.mod
    cat >main.go <<'GO'
package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
)

var _ = provider.MainWithOptions

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		ctx.Export("colour", pulumi.String(config.New(ctx, "").Get("colour")))
		return nil
	})
}
GO
    go get "github.com/pulumi/pulumi/sdk/v3@v$version" >&2
    go mod tidy >&2
    # The flags are those of the language host: others would compile everything anew.
    go build -trimpath -ldflags "-w -s" -o /dev/null >&2
    touch .complete
  fi
fi
echo "$cache"
