"""What the engines of other libraries for the CPU have in common: what they need and support."""

from __future__ import annotations

from importlib.util import find_spec
from typing import ClassVar

from ..base import Engine


class Peer(Engine):
    """An engine that is a library of the extra ``peers``."""

    package: ClassVar[str]
    supports: ClassVar[tuple[str, ...]] = ("depth_limit", "target")  # none keeps the order of neighbours

    def unavailable(self) -> str | None:
        if find_spec(self.name) is None:
            return f"{self.package} is not installed: pip install 'rapids-bfs[peers]'"
        return None
