#!/usr/bin/env bash
# Run the tests of the gymnax adapter in an environment of its own: gymnax caps JAX.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install -q -c constraints.txt -e '.[gymnax]' beartype hypothesis pytest pytest-benchmark \
  pytest-timeout pytest-xdist
"$folder/bin/python" -m pytest -q -n 0 tests/adapters/test_gymnax.py tests/adapters/test_gymnax_own.py
