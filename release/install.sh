#!/bin/sh
# Installs Plumb @VERSION@: downloads the archive for this machine, verifies its SHA-256, and unpacks it.
#
#   PLUMB_RELEASES  where archives and SHA256SUMS are; default: @URL@
#   PLUMB_PREFIX    where to install; default: $HOME/.local (the program is PREFIX/bin/plumb)
#
# Needs sh, tar, gzip, curl or wget, and sha256sum or shasum. Changes nothing outside PREFIX, edits no shell settings, and
# asks for no rights. To remove Plumb again: delete PREFIX/bin/plumb and the files named plumb below PREFIX/share.
set -eu

version='@VERSION@'

fail() {
  echo "error: $1" >&2
  exit 1
}

target() {
  case "$(uname -s)" in
    Linux) ;;
    *) fail "there is no archive for $(uname -s); build Plumb from its sources" ;;
  esac
  case "$(uname -m)" in
    x86_64 | amd64) echo x86_64-unknown-linux-musl ;;
    aarch64 | arm64) echo aarch64-unknown-linux-musl ;;
    *) fail "there is no archive for $(uname -m); build Plumb from its sources" ;;
  esac
}

download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --output "$2" "$1" || fail "could not download $1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1" || fail "could not download $1"
  else
    fail "curl or wget is needed"
  fi
}

digest() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d' ' -f1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d' ' -f1
  else
    fail "sha256sum or shasum is needed to verify the download"
  fi
}

# One function, called on the last line: a download of this script that breaks off runs nothing.
main() {
  releases=${PLUMB_RELEASES:-'@URL@'}
  [ -n "$releases" ] || fail "set PLUMB_RELEASES to the address of the release"
  prefix=${PLUMB_PREFIX:-"${HOME:?}/.local"}
  name=plumb-$version-$(target)
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT

  download "$releases/SHA256SUMS" "$folder/SHA256SUMS"
  download "$releases/$name.tar.gz" "$folder/$name.tar.gz"
  wanted=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$name\.tar\.gz\$/\1/p" "$folder/SHA256SUMS")
  [ -n "$wanted" ] || fail "SHA256SUMS does not name $name.tar.gz"
  found=$(digest "$folder/$name.tar.gz")
  [ "$wanted" = "$found" ] || fail "the archive is damaged: its SHA-256 is $found, not $wanted"

  tar -xzf "$folder/$name.tar.gz" -C "$folder"
  "$folder/$name/bin/plumb" version >/dev/null || fail "the program does not start on this machine"
  mkdir -p "$prefix/bin" "$prefix/share"
  # A running plumb keeps its file: the new one takes the name, not the place.
  cp "$folder/$name/bin/plumb" "$prefix/bin/.plumb.new"
  mv -f "$prefix/bin/.plumb.new" "$prefix/bin/plumb"
  cp -R "$folder/$name/share/." "$prefix/share/"
  # For `plumb self`.
  mkdir -p "$prefix/share/doc/plumb"
  printf 'by: installer\nfrom: %s\nsha256: %s\n' "$releases" "$found" > "$prefix/share/doc/plumb/installed-from"

  echo "Installed Plumb $version as $prefix/bin/plumb"
  case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) echo "Add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
}

main
