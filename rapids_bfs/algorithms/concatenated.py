"""Results for several inputs, one after the other in the same arrays."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._core.arguments import index_of, quoted
from .._core.formatting import counted


class Concatenated:
    """Results for k inputs: the arrays hold the i-th in ``[offsets[i]:offsets[i + 1]]``."""

    asked: ClassVar[str]  # what an answer belongs to, such as "centre"
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def _piece(self, position: Any) -> slice:
        """The slice of the arrays with the result at this position."""
        i = index_of(position)
        if i is None:
            raise TypeError(f"a {self.asked}'s position is an integer, not {quoted(position)}")
        if not -len(self) <= i < len(self):
            raise IndexError(f"there is no {self.asked} {i} among {counted(len(self), self.asked)}")
        return slice(*self.offsets[i % len(self) :][:2].tolist())

    @property
    def index(self) -> np.ndarray:
        """The position of the result to which each entry belongs (int64, on the host)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))
