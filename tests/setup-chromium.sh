#!/usr/bin/env bash
# Installs the browser Chromium from Debian's packages where it is not there, and prints its command.
set -euo pipefail
if ! command -v chromium >&2; then
  apt-get install --yes --no-install-recommends chromium >&2 || {
    apt-get update >&2
    apt-get install --yes --no-install-recommends chromium >&2
  }
fi
command -v chromium
