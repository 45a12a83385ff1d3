"""How many cores this process may use: those that it may run on, or fewer where its container has a quota.

The mask of cores does not show a quota, such as that of `docker run --cpus=2`: threads run on all cores until the quota
of a period is spent, and then none runs until the next period begins.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator

from .cgroups import content, groups

# By version of Linux's control groups: the files with a quota and its period
FILES = {1: ("cpu.cfs_quota_us", "cpu.cfs_period_us"), 2: ("cpu.max",)}
LIMIT = re.compile(rb"([1-9]\d{0,18})\s+([1-9]\d{0,18})\s*")  # without a quota it is "max", or -1


def usable_cores() -> int:
    """Cores that this process may run on, but no more than its quota, rounded up."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return min([cores, *map(math.ceil, _quotas())])


def _quotas() -> Iterator[float]:
    """The quotas of this process's control groups, and of the groups around them, in cores."""
    for version, folder in groups("cpu"):
        if limit := LIMIT.fullmatch(b" ".join(content(f"{folder}/{name}") for name in FILES[version])):
            yield int(limit[1]) / int(limit[2])
