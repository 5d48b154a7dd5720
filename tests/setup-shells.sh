#!/usr/bin/env bash
# Installs the shells zsh and fish from Debian's packages where they are not there.
set -euo pipefail
missing=()
for shell in zsh fish; do
  command -v "$shell" >/dev/null || missing+=("$shell")
done
[ "${#missing[@]}" -gt 0 ] || exit 0
apt-get install --yes --no-install-recommends "${missing[@]}" >&2 || {
  apt-get update >&2
  apt-get install --yes --no-install-recommends "${missing[@]}" >&2
}
