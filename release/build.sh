#!/usr/bin/env bash
# Builds what a release publishes, from a clean tree, into a folder:
#
#   release/build.sh [--out DIR] [--plumb FILE] [--url URL] [--dirty]
#
#   plumb-VERSION-TARGET.tar.gz    bin/plumb, man pages, completions, licence: unpack it over a prefix such as /usr/local
#   plumb_VERSION_ARCH.deb         the same for Debian and Ubuntu, where dpkg-deb exists
#   install.sh                     the installer for archives at URL (PLUMB_RELEASES names another place when it runs)
#   SHA256SUMS                     digests of the archives and packages
#
# --out DIR      the folder; default: target/release-files
# --plumb FILE   package this program instead of building one (to try the scripts)
# --dirty        accept uncommitted changes
#
# The same commit gives the same archives: names are sorted, owners dropped, and times are those of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."

out=target/release-files plumb='' url='' dirty=''
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2; shift 2 ;;
    --plumb) plumb=$2; shift 2 ;;
    --url) url=$2; shift 2 ;;
    --dirty) dirty=yes; shift ;;
    *) sed -n '2,16s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done

if [ -z "$dirty" ] && [ -n "$(git status --porcelain)" ]; then
  echo "error: the tree has uncommitted changes; commit them, or pass --dirty" >&2
  exit 1
fi

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
target=$(rustc -vV | sed -n 's/^host: //p')
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
PLUMB_COMMIT=$(git rev-parse HEAD)
export SOURCE_DATE_EPOCH PLUMB_COMMIT

if [ -z "$plumb" ]; then
  cargo build --release --locked -p plumb-cli --bin plumb
  plumb=${CARGO_TARGET_DIR:-target}/release/plumb
fi

name=plumb-$version-$target
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
tree=$out/$name

# The layout of a prefix, so that `tar --strip-components=1 -C /usr/local` installs everything.
install -Dm755 "$plumb" "$tree/bin/plumb"
strip "$tree/bin/plumb" 2>/dev/null || true
install -Dm644 LICENSE "$tree/share/doc/plumb/LICENSE"
install -Dm644 README.md "$tree/share/doc/plumb/README.md"
install -Dm644 CHANGELOG.md "$tree/share/doc/plumb/CHANGELOG.md"
complete() {
  mkdir -p "$(dirname "$2")"
  "$tree/bin/plumb" gen-completion "$1" > "$2"
}
complete bash "$tree/share/bash-completion/completions/plumb"
complete zsh "$tree/share/zsh/site-functions/_plumb"
complete fish "$tree/share/fish/vendor_completions.d/plumb.fish"
"$tree/bin/plumb" gen-man "$tree/share/man/man1"
gzip -9n "$tree"/share/man/man1/*
find "$tree" -type d -exec chmod 755 {} +
find "$tree/share" -type f -exec chmod 644 {} +

pack() {
  tar --create --directory "$out" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner "$1" |
    gzip -9n > "$out/$1.tar.gz"
}
pack "$name"

# The oldest C library that has every symbol that the program uses.
newest_symbol() {
  objdump -T "$tree/bin/plumb" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1 | sed 's/GLIBC_//'
}

debian() {
  local root=$out/debian arch
  arch=$(dpkg-deb --help >/dev/null 2>&1 && dpkg --print-architecture)
  mkdir -p "$root/DEBIAN" "$root/usr"
  cp -a "$tree/bin" "$tree/share" "$root/usr/"
  mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
  mv "$root/usr/share/doc/plumb/LICENSE" "$root/usr/share/doc/plumb/copyright"
  cat > "$root/DEBIAN/control" <<CONTROL
Package: plumb
Version: $version
Architecture: $arch
Maintainer: The Plumb maintainers <maintainers@plumb.invalid>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: libc6 (>= $(newest_symbol)), libgcc-s1
Recommends: ca-certificates, git
Section: admin
Priority: optional
Description: infrastructure as code, compatible with Pulumi
 Plumb runs Pulumi programs, plugins, project files and state files. It is
 one executable and survives crashes by a journal beside the state.
CONTROL
  find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group --build "$root" "$out/plumb_${version}_$arch.deb" >&2
  rm -rf "$root"
}
if command -v dpkg-deb >/dev/null; then debian; else echo "no dpkg-deb: no Debian package" >&2; fi

sed -e "s|@VERSION@|$version|g" -e "s|@URL@|$url|g" release/install.sh > "$out/install.sh"
chmod 755 "$out/install.sh"
rm -rf "$tree"
(cd "$out" && find . -name '*.tar.gz' -o -name '*.deb' | sed 's|^\./||' | sort | xargs sha256sum > SHA256SUMS)
ls -l "$out" >&2
