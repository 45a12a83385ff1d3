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
python3 benchmarks/bench_classics.py rmat:22 --json "$out/bench_classics.json"
python3 benchmarks/bench_betweenness.py --json "$out/bench_betweenness.json"
python3 benchmarks/bench_construct.py --json "$out/bench_construct.json"
python3 benchmarks/bench_batch.py --engines cupy --json "$out/bench_batch.json"
