#!/usr/bin/env bash
# Installs PostgreSQL from Debian's packages, unless it is there, and prints the folder with its programs.
#
#   tests/setup-postgres.sh
#
# It takes `apt-get` and root where it is not there.
set -euo pipefail

programs() {
  for folder in /usr/lib/postgresql/*/bin "$(dirname "$(command -v initdb || echo /none/initdb)")"; do
    if [ -x "$folder/initdb" ] && [ -x "$folder/postgres" ]; then
      echo "$folder"
      return
    fi
  done
  return 1
}

if ! programs; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  apt-get install -y -qq --no-install-recommends postgresql >&2
  programs
fi
