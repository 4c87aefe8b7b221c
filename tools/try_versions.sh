#!/usr/bin/env bash
# Run the fast tests on other Pythons with the newest JAX, each in a new environment.
#   tools/try_versions.sh [python3.12 python3.13 ...]
set -euo pipefail
cd "$(dirname "$0")/.."
for python in "${@:-python3.12}"; do
  command -v "$python" >/dev/null || { echo "$python is not installed: skipped"; continue; }
  folder=$(mktemp -d)
  "$python" -m venv "$folder"
  # No constraints: the newest versions that the package allows. Torch and its clients are
  # left out; their tests are skipped.
  "$folder/bin/pip" install -q -e '.[report,gymnasium,sklearn,tensorboard]' \
    beartype hypothesis mpmath popgym==1.0.7 pytest pytest-benchmark pytest-timeout pytest-xdist pyyaml
  "$folder/bin/python" -c 'import jax, sys; print(sys.version.split()[0], "JAX", jax.__version__)'
  "$folder/bin/python" -m pytest -q -m fast
  rm -rf "$folder"
done
