"""Benchmarks: ``python -m benchmarks --help``. Their results are in ``results``."""
