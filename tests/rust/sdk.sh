#!/bin/sh
# Tests, lints, format and packaging of the crates for programs.
#
#     tests/rust/sdk.sh
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root/sdk/rust"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target/rust-sdk}"
cargo fmt --all --check
# Clippy is the compiler with more lints, so nothing is compiled twice for them.
export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__
cargo test --quiet --workspace
"$root/tests/rust/check.py"
