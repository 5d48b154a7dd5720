#!/usr/bin/env bash
# Fetches the official Java SDK and what Maven needs to build programs with it, once, and prints the folder that holds it.
#
#   tests/setup-java.sh [VERSION]
#
# VERSION is that of the artifact `com.pulumi:pulumi` (1.36.1). The folder, `.cache/java/sdk-VERSION`, is a local Maven
# repository for work without a network. Needs a JDK of version 11 or newer, and Maven.
# Running it again costs nothing; several may run at once.
set -euo pipefail

if [ $# -gt 1 ] || ! [[ ${1:-1.36.1} =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
  echo "usage: $0 [VERSION]" >&2
  exit 2
fi
version=${1:-1.36.1}

root=$(cd "$(dirname "$0")/.." && pwd)
cache=$(mkdir -p "$root/.cache/java" && cd -P "$root/.cache/java" && pwd)
repository=$cache/sdk-$version

# The marker is written last: without it the repository is half filled and is filled anew.
if [ ! -f "$repository/.complete" ]; then
  exec 9>"$repository.lock"
  flock 9
  if [ ! -f "$repository/.complete" ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    cp -r "$root/tests/e2e/java/program/." "$scratch"
    cd "$scratch"
    # Each goal that a test asks for fetches its own plugin.
    mvn --batch-mode --quiet "-Dmaven.repo.local=$repository" "-Dpulumi.version=$version" compile exec:java \
      -DmainClass=com.pulumi.bootstrap.internal.Main -DmainArgs=packages >&2
    mvn --batch-mode --quiet "-Dmaven.repo.local=$repository" "-Dpulumi.version=$version" dependency:list >&2
    mvn --batch-mode --quiet "-Dmaven.repo.local=$repository" "-Dpulumi.version=$version" package \
      dependency:build-classpath org.apache.maven.plugins:maven-deploy-plugin:3.1.4:deploy \
      "-DaltDeploymentRepository=scratch::file:$scratch/packed" >&2
    touch "$repository/.complete"
  fi
fi
# What the projects of programs with SDKs of their own are compiled with.
if [ ! -f "$repository/.complete-sdks" ]; then
  exec 9>"$repository.lock"
  flock 9
  mvn --batch-mode --quiet "-Dmaven.repo.local=$repository" org.codehaus.mojo:build-helper-maven-plugin:3.6.0:help >&2
  touch "$repository/.complete-sdks"
fi
echo "$repository"
