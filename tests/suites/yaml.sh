#!/usr/bin/env bash
# Language conformance of the YAML host: PLUMB_REFERENCE=CHECKOUT PLUMB_REFERENCE_YAML=CHECKOUT yaml.sh PLUMB
#
# Nothing is written to the checkouts. HYBRID_OFFICIAL names calls that the reference's host answers, separated by commas;
# PULUMI_ACCEPT=true accepts what is generated, instead of comparing it with the snapshots of the suite.
set -euo pipefail

reference=$(cd "${PLUMB_REFERENCE:?PLUMB_REFERENCE names a checkout of the reference}" && pwd)
yaml=$(cd "${PLUMB_REFERENCE_YAML:?PLUMB_REFERENCE_YAML names a checkout of its YAML host}" && pwd)
plumb=$(realpath "${1:?the program}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -r "$yaml" "$work/yaml"
chmod -R u+w "$work/yaml"
cd "$work/yaml"
host=cmd/pulumi-language-yaml
cp "$here/yaml/hybrid_test.go" "$host/"
# The one place where the suite makes its host.
sed -i 's/RegisterLanguageRuntimeServer(srv, server.NewLanguageHost(engineAddress, ""))/RegisterLanguageRuntimeServer(srv, newHybrid(t, server.NewLanguageHost(engineAddress, ""), engineAddress))/' \
    "$host/language_test.go"
go mod edit -replace "github.com/pulumi/pulumi/pkg/v3=$reference/pkg" -replace "github.com/pulumi/pulumi/sdk/v3=$reference/sdk"
GOFLAGS=-mod=mod go mod tidy
mkdir "$work/bin"
cp "$plumb" "$work/bin/pulumi-language-yaml"

cd "$host"
status=0
HYBRID_HOST="$work/bin/pulumi-language-yaml" PULUMI_HOME="$work/home" \
    go test -run TestLanguage -v -timeout 60m . >"$work/log" 2>&1 || status=$?
grep -E -- '--- (PASS|FAIL|SKIP): TestLanguage/' "$work/log" | awk '{print $2, $3}' | sort
for word in PASS FAIL SKIP; do
    printf '%s %s\n' "$word" "$(grep -c -- "--- $word: TestLanguage/" "$work/log" || true)"
done
exit "$status"
