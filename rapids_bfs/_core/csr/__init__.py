"""Which module builds and changes a CSR: that depends on where its arrays are."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from ..cuda.arrays import on_device


def csr_for(array: Any) -> ModuleType:
    """The module whose functions build and change a CSR where ``array`` is: `csr`, or `device_csr`."""
    return import_module(".device" if on_device(array) else ".host", __name__)
