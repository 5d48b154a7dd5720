#!/usr/bin/env bash
# Installs servers of object stores, once, and prints the folder with them.
#
#   tests/setup-stores.sh
#
# They are in `.cache/stores`: `python/bin/moto_server` (S3), `node_modules/.bin/azurite-blob` (Azure), and, where there is a
# `go`, `bin/versitygw` (S3). Running it again costs nothing; several may run at once.
set -euo pipefail

moto=5.2.5
azurite=3.37.0
versitygw=v1.8.0

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mkdir -p "$root/.cache/stores" && cd -P "$root/.cache/stores" && pwd)

# Each marker is written last: without it that part is half done and is made anew.
exec 9>"$folder/.lock"
flock 9
once() {
  local part=$1
  shift
  if [ ! -f "$folder/.$part.complete" ]; then
    "$@" >&2
    touch "$folder/.$part.complete"
  fi
}

install_moto() {
  rm -rf "$folder/python"
  "${PYTHON:-python3}" -m venv "$folder/python"
  "$folder/python/bin/python" -m pip install --quiet "moto[server,s3,sts]==$moto"
}

install_azurite() {
  echo '{"private": true}' >"$folder/package.json"
  npm install --prefix "$folder" --silent --no-audit --no-fund "azurite@$azurite"
}

install_go() {
  GOMODCACHE=$folder/mod GOCACHE=$folder/build GOFLAGS='-modcacherw' GOBIN=$folder/bin go install "$1"
}

once "moto-$moto" install_moto
once "azurite-$azurite" install_azurite
if command -v go >/dev/null; then
  once "versitygw-$versitygw" install_go "github.com/versity/versitygw/cmd/versitygw@$versitygw"
fi
echo "$folder"
