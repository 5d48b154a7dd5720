#!/usr/bin/env bash
# Builds what a release publishes, from a clean tree, into a folder:
#
#   release/build.sh [--out DIR] [--target TARGET].. [--plumb FILE] [--url URL] [--dirty]
#
#   plumb-VERSION-TARGET.tar.gz    bin/plumb, man pages, completions, licence: unpack it over a prefix such as /usr/local
#   plumb_VERSION_ARCH.deb         the same for Debian and Ubuntu, where dpkg-deb exists
#   plumb-VERSION-ARCH.oci.tar     an image for containers, where buildah exists
#   plumb-VERSION.cdx.json         the libraries in it, with versions and licences (CycloneDX)
#   install.sh                     the installer for archives at URL (PLUMB_RELEASES names another place when it runs)
#   SHA256SUMS                     digests of all of these
#
# --out DIR         the folder; default: target/release-files
# --target TARGET   a target of rustc; default: static programs for Linux on x86-64 and arm64, for this machine's processor first
# --plumb FILE      package this program, as the first target, instead of building one (to try the scripts)
# --dirty           accept uncommitted changes
#
# Programs for musl contain their C library and start on any Linux. The same commit gives the same archives: names are sorted, owners
# dropped, and times are those of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."

out=target/release-files plumb='' url='' dirty='' targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2; shift 2 ;;
    --target) targets+=("$2"); shift 2 ;;
    --plumb) plumb=$2; shift 2 ;;
    --url) url=$2; shift 2 ;;
    --dirty) dirty=yes; shift ;;
    *) sed -n '2,21s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
if [ ${#targets[@]} -eq 0 ]; then
  case $(uname -m) in
    aarch64 | arm64) targets=(aarch64-unknown-linux-musl x86_64-unknown-linux-musl) ;;
    *) targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl) ;;
  esac
fi

if [ -z "$dirty" ] && [ -n "$(git status --porcelain)" ]; then
  echo "error: the tree has uncommitted changes; commit them, or pass --dirty" >&2
  exit 1
fi

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
PLUMB_COMMIT=$(git rev-parse HEAD)
export SOURCE_DATE_EPOCH PLUMB_COMMIT

rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The program for a target.
built() {
  if [ -n "$plumb" ] && [ "$1" = "${targets[0]}" ]; then
    echo "$plumb"
    return
  fi
  PATH=$(release/setup-zig.sh "$1"):$PATH cargo zigbuild --profile dist --locked --target "$1" -p plumb-cli --bin plumb >&2
  echo "${CARGO_TARGET_DIR:-target}/$1/dist/plumb"
}

# What is the same for all targets: man pages, completions, licence. The first target runs on this machine, and writes them.
shared=$work/share
texts() {
  local plumb=$1
  mkdir -p "$shared/bash-completion/completions" "$shared/zsh/site-functions" "$shared/fish/vendor_completions.d" "$shared/doc/plumb"
  cp LICENSE README.md CHANGELOG.md "$shared/doc/plumb/"
  "$plumb" gen-completion bash > "$shared/bash-completion/completions/plumb"
  "$plumb" gen-completion zsh > "$shared/zsh/site-functions/_plumb"
  "$plumb" gen-completion fish > "$shared/fish/vendor_completions.d/plumb.fish"
  "$plumb" gen-man "$shared/man/man1"
  gzip -9n "$shared"/man/man1/*
  find "$shared" -type d -exec chmod 755 {} +
  find "$shared" -type f -exec chmod 644 {} +
}

archive() {
  local name=plumb-$version-$1 plumb=$2
  install -Dm755 "$plumb" "$work/$name/bin/plumb"
  cp -a "$shared" "$work/$name/share"
  tar --create --directory "$work" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner "$name" |
    gzip -9n > "$out/$name.tar.gz"
}

# Name of a target's processor in Debian and in images.
processor() {
  case $1 in
    x86_64-*) echo amd64 ;;
    aarch64-*) echo arm64 ;;
    *) echo "error: there is no package for $1" >&2; exit 1 ;;
  esac
}

debian() {
  local arch root=$work/debian
  arch=$(processor "$1")
  rm -rf "$root"
  mkdir -p "$root/DEBIAN" "$root/usr"
  cp -a "$work/plumb-$version-$1/bin" "$work/plumb-$version-$1/share" "$root/usr/"
  mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
  mv "$root/usr/share/doc/plumb/LICENSE" "$root/usr/share/doc/plumb/copyright"
  cat > "$root/DEBIAN/control" <<CONTROL
Package: plumb
Version: $version
Architecture: $arch
Maintainer: The Plumb maintainers <maintainers@plumb.invalid>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Recommends: ca-certificates, git
Section: admin
Priority: optional
Description: infrastructure as code, compatible with Pulumi
 Plumb runs Pulumi programs, plugins, project files and state files. It is
 one executable and survives crashes by a journal beside the state.
CONTROL
  find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group --build "$root" "$out/plumb_${version}_$arch.deb" >&2
}

# An image with the program, certificates and a user, and nothing else: no shell, no package manager.
image() {
  local arch context=$work/image
  arch=$(processor "$1")
  rm -rf "$context"
  mkdir -p "$context/root/usr/bin" "$context/root/etc/ssl/certs" "$context/root/tmp" "$context/root/work" "$context/root/home/plumb/.pulumi"
  cp "$2" "$context/root/usr/bin/plumb"
  cp -L /etc/ssl/certs/ca-certificates.crt "$context/root/etc/ssl/certs/"
  mkdir -p "$context/root/usr/share/doc/plumb"
  printf 'by: image\nfrom: plumb:%s\n' "$version" > "$context/root/usr/share/doc/plumb/installed-from"
  echo 'plumb:x:1000:1000::/home/plumb:/usr/bin/plumb' > "$context/root/etc/passwd"
  echo 'plumb:x:1000:' > "$context/root/etc/group"
  chmod 1777 "$context/root/tmp"
  cp release/Dockerfile "$context/"
  buildah build --quiet --isolation chroot --storage-driver vfs --arch "$arch" --timestamp "$SOURCE_DATE_EPOCH" \
    --tag "plumb:$version-$arch" "$context" >&2
  buildah push --quiet --storage-driver vfs "plumb:$version-$arch" "oci-archive:$out/plumb-$version-$arch.oci.tar:plumb:$version" >&2
}

for target in "${targets[@]}"; do
  program=$(built "$target")
  [ -d "$shared" ] || texts "$program"
  archive "$target" "$program"
  case $target in *-linux-*) ;; *) continue ;; esac
  if command -v dpkg-deb >/dev/null; then debian "$target"; else echo "no dpkg-deb: no Debian package" >&2; fi
  if command -v buildah >/dev/null; then image "$target" "$program"; else echo "no buildah: no image" >&2; fi
done

release/sbom.py > "$out/plumb-$version.cdx.json"
sed -e "s|@VERSION@|$version|g" -e "s|@URL@|$url|g" release/install.sh > "$out/install.sh"
chmod 755 "$out/install.sh"
(cd "$out" && find . -type f ! -name SHA256SUMS | sed 's|^\./||' | sort | xargs sha256sum > SHA256SUMS)
ls -l "$out" >&2
