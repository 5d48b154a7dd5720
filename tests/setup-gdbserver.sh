#!/usr/bin/env bash
# Installs gdbserver from Debian's packages where it is not there, and prints where it is.
set -euo pipefail
command -v gdbserver && exit 0
apt-get install --yes --no-install-recommends gdbserver >&2 || {
  apt-get update >&2
  apt-get install --yes --no-install-recommends gdbserver >&2
}
command -v gdbserver
