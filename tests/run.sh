#!/usr/bin/env bash
# All tests, the fast ones first; stops at the first step that fails.
#
#   tests/run.sh            everything
#   tests/run.sh --fast     format, lints, unit and integration tests
#
# Needs Rust, Python 3.10 or newer, and Node.js 20 or newer with npm; installs the SDKs that it needs. Programs in Go are run
# if there is `go`, those in Java if there are a JDK and `mvn`. JOBS says how many recorded cases, and how many stacks to be
# killed, run at a time (2).
set -euo pipefail
cd "$(dirname "$0")/.."

fast=false
case "${1:-}" in
  "") ;;
  --fast) fast=true ;;
  *) echo "usage: $0 [--fast]" >&2; exit 2 ;;
esac

passing=tests/oracle-passing.txt
target=${CARGO_TARGET_DIR:-target}
plumb=$target/bench-fast/plumb
left_out=()

step() {
  printf '\n=== %s (%s)\n' "$*" "$(date +%T)"
}

run() {
  step "$*"
  "$@"
}

leave_out() {
  printf '\n!!! LEFT OUT: %s\n' "$*" >&2
  left_out+=("$*")
}

step "Python environments"
export PYTHONDONTWRITEBYTECODE=1
python_3_259=$(tests/setup-python.sh 3.259)
python_3_272=$(tests/setup-python.sh 3.272)
python_terminal=$(tests/setup-python.sh 3.259 pyte)
python_policies=$(tests/setup-python.sh 3.259 pulumi-policy)
# The reference was recorded with the package of a provider beside the SDK, which is of consequence for default providers.
python_recorded=$(tests/setup-python.sh 3.259 pulumi-random)

tests/setup-python.sh 3.259 mypy >/dev/null
tests/setup-python.sh 3.259 pyright >/dev/null

mapfile -t pythons < <(tests/setup-pythons.sh 3.259)

step "Node.js SDKs"
node_3_248=$(tests/setup-node.sh 3.248.0)
node_3_270=$(tests/setup-node.sh 3.270.0)
node_policies=$(tests/setup-node.sh 3.248.0 @pulumi/policy)
node_tools=$(tests/setup-node-tools.sh)
export ORACLE_NODE_MODULES=$node_3_248/node_modules
go_sdk=
if command -v go >/dev/null; then
  step "Go SDK"
  go_sdk=$(tests/setup-go-automation.sh)
fi
java_sdk=
if command -v javac >/dev/null && command -v mvn >/dev/null; then
  step "Java SDK"
  java_sdk=$(tests/setup-java.sh)
fi
step "SDKs of long ago"
old_sdks=$(tests/setup-old-sdks.sh)

run cargo fmt --all --check
run cargo clippy --workspace --all-targets -- -D warnings
run cargo test --workspace

if ! $fast; then
  run cargo build --profile bench-fast -p plumb-cli -p null-monitor -p slow-provider -p core-bench

  # Histories that nobody wrote down: the same as ever, and others each time.
  run cargo xtask simulate --ops 200000 --seed 0 --threads 2
  fresh=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
  run cargo xtask simulate --ops 50000 --seed "$fresh" --threads 2 ||
    leave_out "a history in which the core and its model disagree, see above: it is worth a story"
  run cargo xtask simulate --ops 20000 --seed "$fresh" --threads 2 --from-state "$PWD/tests/data/vectors/deployment-v3.json" ||
    leave_out "a history from a state in which the core and its model disagree, see above: it is worth a story"

  run python3 tests/e2e/examples.py --bin "$plumb"
  run python3 tests/e2e/interrupts.py --bin "$plumb" --python "$python_3_259/bin/python"
  run python3 tests/e2e/defects.py --bin "$plumb"
  run "$python_terminal/bin/python" tests/e2e/terminal.py --bin "$plumb" --python "$python_terminal/bin/python"
  tests/setup-shells.sh
  run python3 tests/e2e/completion.py --bin "$plumb"
  run python3 tests/e2e/hooks.py --bin "$plumb" --python "$python_3_259/bin/python"
  run python3 tests/e2e/hooks.py --bin "$plumb" --python "$python_3_272/bin/python"
  run python3 tests/e2e/plugins.py --bin "$plumb" --python "$python_3_259/bin/python"
  run python3 tests/e2e/python_plugins.py --bin "$plumb" --python "$python_3_259/bin/python"
  run python3 tests/e2e/converters.py --bin "$plumb" --python "$python_3_259/bin/python"
  run python3 tests/e2e/direct.py --bin "$plumb" --python "$python_3_259/bin/python"
  run python3 tests/e2e/policies.py --bin "$plumb" --python "$python_policies/bin/python"
  run python3 tests/e2e/node.py --bin "$plumb" --sdk "$node_3_248" --tools "$node_tools" \
    --python "$python_3_259/bin/python"
  run python3 tests/e2e/node.py --bin "$plumb" --sdk "$node_3_270" --python "$python_3_259/bin/python" \
    --only modules,typescript,hooks,failures,loaded_later
  run python3 tests/e2e/node_plugins.py --bin "$plumb" --sdk "$node_policies" --python "$python_3_259/bin/python"
  debuggers=()
  [ -z "$go_sdk" ] || debuggers+=(--go "$go_sdk" --delve "$(tests/setup-delve.sh)")
  [ -z "$java_sdk" ] || debuggers+=(--repository "$java_sdk")
  run python3 tests/e2e/debuggers.py --bin "$plumb" --python "$python_3_259/bin/python" --sdk "$node_3_248" \
    --tools "$node_tools" ${debuggers[@]+"${debuggers[@]}"}
  run tests/e2e/automation-node/run --bin "$plumb" --sdk "$node_3_248"
  ONLY=event run tests/e2e/automation-node/run --bin "$plumb" --sdk "$node_3_270"
  run tests/e2e/automation-python/run --bin "$plumb" --python "$python_3_259/bin/python"
  SUITES=events,interface run tests/e2e/automation-python/run --bin "$plumb" --python "$python_3_272/bin/python"
  run "$python_3_259/bin/python" tests/e2e/automation-python/many_updates.py --bin "$plumb"

  python_packages=$(tests/setup-python-packages.sh)
  run "$python_packages/bin/python" tests/codegen/python.py --bin "$plumb" --packages "$python_packages"
  run "$python_packages/bin/python" tests/codegen/use_python.py --bin "$plumb"
  run python3 tests/codegen/parameters.py --bin "$plumb" --python "$python_3_259/bin/python"
  run python3 tests/codegen/packages.py --bin "$plumb" --python "$python_3_259/bin/python" \
    ${java_sdk:+--repository "$java_sdk"}
  if command -v npm >/dev/null; then
    sdks=$(tests/setup-node-packages.sh)
    run node tests/codegen/nodejs.js --bin "$plumb" --modules "$sdks"
    run node tests/codegen/use-nodejs.js --bin "$plumb" --modules "$sdks"
  else
    leave_out "generated SDKs for Node.js: npm is missing"
  fi

  grammar=$(tests/setup-csharp-grammar.sh)
  run "$grammar/bin/python" tests/codegen/csharp.py --bin "$plumb"
  if [ -n "$java_sdk" ]; then
    run python3 tests/codegen/java.py --bin "$plumb" --repository "$java_sdk"
    run python3 tests/codegen/use-java.py --bin "$plumb" --repository "$java_sdk" --python "$python_3_259/bin/python"
  else
    leave_out "generated SDKs for Java: there is no JDK, or no \`mvn\`"
  fi

  if [ -n "$go_sdk" ]; then
    run python3 tests/codegen/go.py --bin "$plumb" --go "$go_sdk"
    run python3 tests/codegen/use-go.py --bin "$plumb" --go "$go_sdk" --python "$python_3_259/bin/python"
    run python3 tests/e2e/go.py --bin "$plumb" --go "$go_sdk" --python "$python_3_259/bin/python"
    run tests/e2e/automation-go/run --bin "$plumb" --go "$go_sdk"
    run python3 tests/e2e/served.py --bin "$plumb" --go "$go_sdk" --python "$python_3_259/bin/python"
    run "$python_3_259/bin/python" tests/e2e/host_service.py --bin "$plumb" --sdk "$node_3_248" --go "$go_sdk"
    run python3 tests/e2e/yaml_components.py --bin "$plumb" --python "$python_3_259/bin/python" --sdk "$node_3_248" \
      --go "$go_sdk"
  else
    run python3 tests/e2e/served.py --bin "$plumb" --python "$python_3_259/bin/python"
    run "$python_3_259/bin/python" tests/e2e/host_service.py --bin "$plumb" --sdk "$node_3_248"
    run python3 tests/e2e/yaml_components.py --bin "$plumb" --python "$python_3_259/bin/python" --sdk "$node_3_248"
    leave_out "programs in Go and generated SDKs for it: there is no \`go\`"
  fi

  if [ -n "$java_sdk" ]; then
    gradle=
    if command -v apt-get >/dev/null; then
      gradle=$(tests/setup-gradle.sh)
    else
      leave_out "programs in Java that Gradle runs: Debian's packages are not to be had"
    fi
    run python3 tests/e2e/java.py --bin "$plumb" --repository "$java_sdk" ${gradle:+--gradle "$gradle"}
  else
    leave_out "programs in Java: there is no JDK, or no \`mvn\`"
  fi

  run python3 tests/e2e/processes.py --bin "$plumb" --python "$python_3_259/bin/python" --sdk "$node_3_248" \
    ${go_sdk:+--go "$go_sdk"}

  languages=()
  [ -z "$go_sdk" ] || languages+=(--go "$go_sdk")
  [ -z "$java_sdk" ] || languages+=(--repository "$java_sdk")
  run python3 tests/e2e/languages.py --bin "$plumb" --python "$python_3_259/bin/python" --sdk "$node_3_248" \
    ${languages[@]+"${languages[@]}"}
  run python3 tests/e2e/bad_input.py --bin "$plumb" --python "$python_3_259/bin/python" --sdk "$node_3_248" --old "$old_sdks" \
    ${languages[@]+"${languages[@]}"}
  # The oldest and the newest Python that there is beside the one that everything else runs on.
  for python in "${pythons[0]:-}" "${pythons[@]: -1}"; do
    [ -n "$python" ] || continue
    without=
    [[ $python != *python3.9/* ]] || without=errorHooks
    run python3 tests/e2e/languages.py --bin "$plumb" --python "$python" --lab "$python_3_259/bin/python" --only python \
      --without "$without"
  done
  [ "${#pythons[@]}" -gt 0 ] || leave_out "other versions of Python: there are none"

  if grep -qsE '^[^#[:space:]]' "$passing"; then
    run python3 tests/recorded_cases.py --bin "$plumb" --python-bin "$python_recorded/bin" --jobs "${JOBS:-2}"
  else
    leave_out "recorded cases of the reference: $passing is missing or empty"
  fi

  run tests/crash/run --bin "$plumb" --python "$python_3_259/bin/python" --jobs "${JOBS:-2}"

  # Instructions, unlike seconds, are the same on a busy machine.
  tests/setup-valgrind.sh
  run benches/instructions --core-bench "$target/bench-fast/core-bench"
  run benches/commands/run --plumb "$plumb" --runs 15 --margin 3

  if [ -x benches/run ]; then
    run benches/run --smoke --no-peers --plumb "$plumb" --null-monitor "$target/bench-fast/null-monitor" \
      --slow-provider "$target/bench-fast/pulumi-resource-slow" \
      --workloads empty,stash-yaml,slow-yaml,component-python,component-node --json "$target/benches/smoke.json"
    run benches/overhead --smoke --plumb "$plumb" --null-monitor "$target/bench-fast/null-monitor" --shapes mixed \
      --languages "python,nodejs${go_sdk:+,go}" --json "$target/benches/overhead-smoke.json"
  else
    leave_out "benchmarks: benches/run is missing"
  fi
fi

for what in ${left_out[@]+"${left_out[@]}"}; do
  printf '!!! LEFT OUT: %s\n' "$what" >&2
done
printf '\n=== everything that ran has passed\n'
