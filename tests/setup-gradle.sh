#!/usr/bin/env bash
# Gets Gradle out of Debian's packages, once, with what a program with the Java SDK needs, and prints the folder that holds it.
#
#   tests/setup-gradle.sh
#
# In `.cache/java/gradle` are `bin/gradle`, which works without a network, and `home`, its folder of downloads. Nothing is
# installed on the machine. It is Gradle 4.4.1, which Debian keeps running on newer virtual machines; its `run` knows no
# `--args` yet. Needs a JDK from 11 to 21 and `apt-get`.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cache=$(mkdir -p "$root/.cache/java" && cd -P "$root/.cache/java" && pwd)
folder=$cache/gradle

# The paths of the machine, where Debian's patches look, become those of the folder.
point_at_folder() {
  "${PYTHON:-python3}" - "$folder" <<'PYTHON'
import os
import sys
import zipfile

root = sys.argv[1]


def constant(path):
    return len(path).to_bytes(2, "big") + path.encode()


for module in ("core-api", "dependency-management"):
    jar = f"{root}/usr/share/java/gradle-{module}-4.4.1.jar"
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(jar + ".new", "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            for path in ("/usr/share/gradle", "/usr/share/java", "/usr/share/maven-repo"):
                content = content.replace(constant(path), constant(root + path))
            new.writestr(entry, content)
    os.replace(jar + ".new", jar)
PYTHON
}

unpack() {
  local packages scratch
  scratch=$(mktemp -d)
  packages=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances gradle | grep -E '^(lib[^:]*-(java|jni)|ant|ant-optional|antlr|bnd|gradle|groovy|ivy|junit4|testng)$' | sort -u)
  (cd "$scratch" && apt-get download $packages >&2)
  for package in "$scratch"/*.deb; do
    dpkg-deb --extract "$package" "$folder"
  done
  rm -r "$scratch"
}

write_command() {
  mkdir -p "$folder/bin" "$folder/home"
  cat >"$folder/bin/gradle" <<SH
#!/bin/sh
JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")") GRADLE_USER_HOME=$folder/home \\
  exec $folder/usr/share/gradle/bin/gradle --no-daemon \$OFFLINE "\$@"
SH
  chmod +x "$folder/bin/gradle"
}

# The marker is written last: without it the folder is half done and is made anew.
if [ ! -f "$folder/.complete" ]; then
  exec 9>"$folder.lock"
  flock 9
  if [ ! -f "$folder/.complete" ]; then
    rm -rf "$folder"
    mkdir "$folder"
    unpack
    point_at_folder
    write_command
    scratch=$(mktemp -d)
    cp -r "$root/tests/e2e/java/program/src" "$root/tests/e2e/java/gradle/." "$scratch"
    (cd "$scratch" && OFFLINE='' "$folder/bin/gradle" --quiet classes >&2)
    rm -r "$scratch"
    sed -i 's/\$OFFLINE/--offline/' "$folder/bin/gradle"
    touch "$folder/.complete"
  fi
fi
echo "$folder"
