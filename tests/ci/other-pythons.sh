#!/usr/bin/env bash
# Runs the features of Python programs on the oldest and on the newest other Python of this machine.
#
#   tests/ci/other-pythons.sh PLUMB LAB_PYTHON SDK_VERSION
set -euo pipefail
cd "$(dirname "$0")/../.."

mapfile -t pythons < <(tests/setup-pythons.sh "$3")
if [ "${#pythons[@]}" -eq 0 ]; then
  echo "!!! LEFT OUT: other versions of Python: there are none"
  exit 0
fi
mapfile -t ends < <(printf '%s\n' "${pythons[0]}" "${pythons[-1]}" | uniq)
for python in "${ends[@]}"; do
  without=
  [[ $python != *python3.9/* ]] || without=errorHooks
  python3 tests/e2e/languages.py --bin "$1" --python "$python" --lab "$2" --only python --without "$without"
done
