"""Optional packages, and the message if one is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import InputError


def import_optional(module: str, what: str, install: str = "") -> Any:
    """Import ``module``. Raises `InputError` saying that ``what`` needs its package and how to install that, by default
    by its own name."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != package:
            raise
        raise InputError(f"{what} needs {package}, which is not installed: pip install {install or package}") from None
