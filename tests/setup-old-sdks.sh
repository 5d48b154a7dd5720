#!/usr/bin/env bash
# Fetches SDKs of long ago, once, and prints the folder that holds them.
#
#   tests/setup-old-sdks.sh
#
# In `.cache/old-sdks` are `node` (@pulumi/pulumi 1.14.1, without its parts in machine code), `python` (2.25.2) and, where
# their tools are there, `java` (0.1.0, a Maven repository) and `go` (1.14.1, the `go.mod` and `go.sum` of programs with it).
# Running it again costs nothing; several may run at once.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mkdir -p "$root/.cache/old-sdks" && cd -P "$root/.cache/old-sdks" && pwd)

node() {
  echo '{"private": true}' >"$1/package.json"
  npm install --prefix "$1" --silent --no-audit --no-fund --ignore-scripts @pulumi/pulumi@1.14.1 >&2
}

java() {
  local scratch
  scratch=$(mktemp -d)
  cp "$root/tests/e2e/java/program/pom.xml" "$scratch"
  mkdir -p "$scratch/src/main/java/prog"
  cat >"$scratch/src/main/java/prog/App.java" <<'JAVA'
package prog;

public class App {
    public static void main(String[] args) {
        System.out.println(com.pulumi.Pulumi.class);
    }
}
JAVA
  (cd "$scratch" && mvn --batch-mode --quiet "-Dmaven.repo.local=$1" -Dpulumi.version=0.1.0 compile exec:java >&2)
  rm -r "$scratch"
}

go_sdk() {
  local cache=$root/.cache/go
  cd "$1"
  printf 'module program\n\ngo 1.24\n' >go.mod
  cat >main.go <<'GO'
package main

import "github.com/pulumi/pulumi/sdk/go/pulumi"

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error { return nil })
}
GO
  export GOMODCACHE=$cache/mod GOCACHE=$cache/build GOFLAGS=-buildvcs=false
  go get github.com/pulumi/pulumi/sdk@v1.14.1 >&2
  go mod tidy >&2
  # The flags are those of the language host: others would compile everything anew.
  go build -trimpath -ldflags "-w -s" -o /dev/null >&2
}

# The marker is written last: without it the folder is half done and is made anew.
once() {
  local name=$1 work=$2
  [ ! -f "$folder/$name.complete" ] || return 0
  exec 9>"$folder/$name.lock"
  flock 9
  [ ! -f "$folder/$name.complete" ] || return 0
  rm -rf "${folder:?}/$name"
  mkdir "$folder/$name"
  ("$work" "$folder/$name")
  touch "$folder/$name.complete"
}

once node node
ln -sfn "$("$root/tests/setup-old-python.sh")" "$folder/python"
if command -v javac >/dev/null && command -v mvn >/dev/null; then
  once java java
fi
if command -v go >/dev/null; then
  mkdir -p "$root/.cache/go"
  once go go_sdk
fi
echo "$folder"
