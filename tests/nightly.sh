#!/usr/bin/env bash
# Everything that `tests/run.sh` runs for some commit, and what takes too long for any: ten million operations of the
# simulation, every mutation of the core, the recorded cases with answers in another order, a large schema, and generated
# documentation in a browser. Takes some hours; `tests/ci/run.py --help` names the options.
exec python3 "$(dirname "$0")/ci/run.py" --nightly "$@"
