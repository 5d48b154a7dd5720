#!/usr/bin/env bash
# Installs valgrind from Debian's packages where it is not there.
set -euo pipefail
command -v valgrind >/dev/null && exit 0
apt-get install --yes --no-install-recommends valgrind >&2 || {
  apt-get update >&2
  apt-get install --yes --no-install-recommends valgrind >&2
}
