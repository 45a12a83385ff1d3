"""These tests run in a process of their own, under AddressSanitizer, which `test_host_cuda.py` starts."""

import os

collect_ignore_glob = [] if "libasan" in os.environ.get("LD_PRELOAD", "") else ["test_*"]
