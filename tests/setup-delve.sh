#!/usr/bin/env bash
# Installs Delve, the debugger of Go, once, and prints the folder with its executable.
#
#   tests/setup-delve.sh [VERSION]
#
# It is in `.cache/go/delve-VERSION`. Running it again costs nothing; several may run at once.
set -euo pipefail

if [ $# -gt 1 ] || ! [[ ${1:-1.26.0} =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
  echo "usage: $0 [VERSION]" >&2
  exit 2
fi
version=${1:-1.26.0}

root=$(cd "$(dirname "$0")/.." && pwd)
cache=$(mkdir -p "$root/.cache/go" && cd -P "$root/.cache/go" && pwd)
folder=$cache/delve-$version

# The marker is written last: without it the folder is half done and is made anew.
if [ ! -f "$folder/.complete" ]; then
  exec 9>"$folder.lock"
  flock 9
  if [ ! -f "$folder/.complete" ]; then
    rm -rf "$folder"
    mkdir "$folder"
    GOMODCACHE=$cache/mod GOCACHE=$cache/build GOFLAGS='' GOBIN=$folder \
      go install "github.com/go-delve/delve/cmd/dlv@v$version" >&2
    touch "$folder/.complete"
  fi
fi
echo "$folder"
