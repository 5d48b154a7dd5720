#!/usr/bin/env bash
# All tests, the fast ones first; stops at the first step that fails. `tests/ci/run.py --help` names the options.
#
#   tests/run.sh            what a change must pass: everything, but of the slowest suites only this commit's share
#   tests/run.sh --all      every suite
#   tests/run.sh --fast     format, lints, unit and integration tests
#
# Needs Rust, Python 3.10 or newer, and Node.js 20 or newer with npm; installs the SDKs that it needs. Programs in Go are run
# if there is `go`, those in Java if there are a JDK and `mvn`. Debian's packages (zsh, fish, valgrind, Gradle) take
# `apt-get` and root. The last lines name whatever was left out.
exec python3 "$(dirname "$0")/ci/run.py" "$@"
