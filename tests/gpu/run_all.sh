#!/usr/bin/env bash
# Everything that needs a GPU: the tests, compute-sanitizer, the twins' times. Records go into the folder $1.
#
# -P keeps the working directory off the import path: rapids_bfs comes from where it is installed, with its kernels.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:?usage: run_all.sh FOLDER}

python3 -P -m pytest -q -m gpu tests/gpu
cp tests/gpu/validated.json "$out"
python3 -P tests/gpu/sanitize.py
for case in classics betweenness construct batch; do
    python3 -m benchmarks "$case" --json "$out/$case.json"
done
