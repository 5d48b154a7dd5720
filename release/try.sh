#!/usr/bin/env bash
# Tries what release/build.sh has made, in an empty root with BusyBox and nothing else: no C library, no certificates, no shell of its own.
#
#   release/try.sh [DIR]        default: target/release-files
#
# 1. Serves DIR over HTTP on this machine and runs `wget ... | sh` in the root, as a new user would.
# 2. Runs the quickstart there, from nothing to a deployment and back.
# 3. Serves an archive with one byte changed: the installer must refuse it.
# 4. Installs the Debian package into a second root, and runs the program.
# 5. Runs the quickstart in the image for containers, and as its user.
#
# Needs root, Python 3, and the package busybox-static of Debian, which it downloads with apt-get.
set -euo pipefail
cd "$(dirname "$0")/.."
files=$(cd "${1:-target/release-files}" && pwd)
work=$(mktemp -d)
chmod 755 "$work" # apt-get downloads as a user of its own
server=''
finish() {
  [ -z "$server" ] || kill "$server"
  rm -rf "$work"
}
trap finish EXIT

(cd "$work" && apt-get download -q busybox-static >/dev/null)
fresh_root() {
  local root=$work/$1 package
  for package in "$work"/*.deb; do dpkg-deb -x "$package" "$root"; done
  mkdir -p "$root"/{bin,tmp,proc,dev,root,etc}
  local busybox
  busybox=$(cd "$root" && find . -path '*bin/busybox' -type f | head -1 | cut -c2-)
  for tool in sh wget tar gzip sha256sum uname ls cut sed mktemp mkdir cp mv rm cat chmod find env; do
    ln -sf "$busybox" "$root/bin/$tool"
  done
  : > "$root/dev/null"
  echo 'root:x:0:0:root:/root:/bin/sh' > "$root/etc/passwd"
  echo "$root"
}
# In a mount namespace of its own, so that /proc of the root goes away with the command.
inside() {
  local root=$1
  shift
  unshare --mount --pid --fork env -i HOME=/root PATH=/root/.local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    sh -c 'mount -t proc proc "$0/proc"; exec chroot "$0" /bin/sh -c "$1"' "$root" "$*"
}

cp -r "$files" "$work/served"
(cd "$work/served" && exec python3 -m http.server --bind 127.0.0.1 0) > "$work/port" 2>&1 &
server=$!
until port=$(grep -o 'port [0-9]*' "$work/port" | cut -d' ' -f2) && [ -n "$port" ]; do sleep 0.1; done
export_url="export PLUMB_RELEASES=http://127.0.0.1:$port"

root=$(fresh_root one)
cp -r examples/quickstart "$root/root/quickstart"
inside "$root" "$export_url; wget -q -O - \$PLUMB_RELEASES/install.sh | sh"
inside "$root" 'plumb version && plumb up --cwd /root/quickstart --stack dev --create --yes &&
  plumb destroy --cwd /root/quickstart --stack dev --yes'
inside "$root" 'plumb self' | grep "by the installer, from http://127.0.0.1:$port"
inside "$root" 'ls /root/.local/share/man/man1 | head -2; find /root/.local/share -name "*plumb*" | head -4'

archive=$(cd "$work/served" && ls ./*"$(uname -m)"*.tar.gz)
printf 'x' | dd of="$work/served/$archive" bs=1 seek=1000 conv=notrunc status=none
if inside "$root" "$export_url; wget -q -O - \$PLUMB_RELEASES/install.sh | sh" 2> "$work/refusal"; then
  echo "FAILED: a damaged archive was installed" >&2
  exit 1
fi
grep 'the archive is damaged' "$work/refusal"

arch=$(dpkg --print-architecture)
if package=$(ls "$files"/*_"$arch".deb 2>/dev/null); then
  root=$(fresh_root two)
  mkdir -p "$root/var/lib/dpkg"/{info,updates}
  : > "$root/var/lib/dpkg/status"
  dpkg --root="$root" --install "$package" 2>/dev/null
  inside "$root" 'plumb self' | grep 'by the package'
fi
if image=$(ls "$files"/*-"$arch".oci.tar 2>/dev/null); then
  storage=(--storage-driver vfs --root "$work/containers" --runroot "$work/containers-run")
  container=$(buildah "${storage[@]}" from --quiet "oci-archive:$image")
  buildah "${storage[@]}" copy --quiet --chown 1000:1000 "$container" examples/quickstart /work >/dev/null
  for words in self "up --stack dev --create --yes" "destroy --stack dev --yes"; do
    # shellcheck disable=SC2086 # the words of a command
    buildah "${storage[@]}" run --isolation chroot "$container" -- /usr/bin/plumb $words
  done
fi
echo passed
