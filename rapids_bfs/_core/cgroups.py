"""The control groups of this process, by which Linux limits its cores and its memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import accumulate, product

from .forks import in_each_child

ROOT = ""  # of the file system
GROUP = re.compile(r"^\d+:([^:\n]*):(/.*)$", re.MULTILINE)  # a line names controllers, none in version 2, and a group


def groups(controller: str) -> tuple[tuple[int, str], ...]:
    """The version and the folder of each group whose limits of this controller hold for this process: its own groups,
    and those around them. They are looked for once, since processes seldom change groups."""
    return _found(ROOT, controller)


@cache
def _found(root: str, controller: str) -> tuple[tuple[int, str], ...]:
    return tuple(group for group in _possible(root, controller) if os.path.isdir(group[1]))


in_each_child(_found.cache_clear)


def _possible(root: str, controller: str) -> Iterator[tuple[int, str]]:
    for controllers, path in GROUP.findall(os.fsdecode(content(f"{root}/proc/self/cgroup"))):
        if not controllers:
            version, mounts = 2, {"", "/unified"}
        elif controller in controllers.split(","):
            version, mounts = 1, {f"/{controllers}", f"/{controller}"}
        else:
            continue
        parts = [f"/{part}" for part in path.split("/") if part]
        if "/.." in parts:  # outside of the namespace
            continue
        # The group at the mount may be a container's own, though its path begins at the root of the machine.
        for mount, group in product(mounts, accumulate(parts, initial="")):
            yield version, f"{root}/sys/fs/cgroup{mount}{group}"


def content(file: str) -> bytes:
    """The content of the file; empty if it does not exist or cannot be read."""
    with suppress(OSError), open(file, "rb", buffering=0) as opened:
        return opened.read()
    return b""
