"""What every benchmark writes beside its measurements."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rapids_bfs._core import machine


def about(versions: dict[str, str] | None = None) -> dict[str, Any]:
    """The date, the machine, and what is installed, ``versions`` too."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine.describe(),
        "versions": machine.versions() | (versions or {}),
    }


def write(path: Path, measured: dict[str, Any], *, versions: dict[str, str] | None = None) -> None:
    """Write what was measured as JSON, with what it is `about`."""
    path.write_text(json.dumps(about(versions) | measured, indent=1) + "\n")
