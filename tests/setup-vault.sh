#!/usr/bin/env bash
# Builds a HashiCorp Vault server, once, and prints the program.
#
#   tests/setup-vault.sh
#
# `vault/main.go` is the server's own code in memory with the engine `transit`: the whole product has all of its plugins, and
# takes ten times as long. Version 1.13 is under the Mozilla Public License. Nothing of it becomes a part of this project.
set -euo pipefail

version=v1.13.0
library=v0.8.1

here=$(cd "$(dirname "$0")" && pwd)
digest=$(cat "$0" "$here/vault/main.go" | sha256sum | cut -c1-12)
folder=$here/../.cache/vault-$digest
mkdir -p "$folder"
folder=$(cd -P "$folder" && pwd)

exec 9>"$folder/.lock"
flock 9
# The program is moved last: without it the folder is half done and is made again.
if [ ! -f "$folder/vault" ]; then
  rm -rf "$folder/module"
  mkdir "$folder/module"
  cp "$here/vault/main.go" "$folder/module"
  cd "$folder/module"
  # A module of its own, because that of Vault replaces others by folders of its repository.
  export GOFLAGS=-mod=mod
  {
    go mod init vault
    go mod edit -go=1.20
    go get github.com/hashicorp/vault/{vault,http,builtin/logical/transit}@$version github.com/hashicorp/vault/sdk@$library
    go build -trimpath -ldflags '-s -w' -o server .
  } >&2
  mv server "$folder/vault"
fi
echo "$folder/vault"
