"""The module of array functions for a device: `host_tools` or `device_tools`, which have the same functions."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from .._core.cuda.arrays import CPU, CUDA


def tools_for(device: str) -> ModuleType:
    return import_module(".device_tools" if device == CUDA else ".host_tools", __package__)


def tools_of(array: Any) -> ModuleType:
    return tools_for(CPU if isinstance(array, np.ndarray) else CUDA)
