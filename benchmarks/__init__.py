"""Programs that measure: ``python -m benchmarks --help``. What they measured lies in ``results``."""
