"""The record of a measurement: a JSON file with the date, the machine, the versions and the commit."""

import json
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rapids_bfs._core import machine
from rapids_bfs.adapters._file import replacing

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
Record = dict[str, Any]


def about() -> Record:
    """The date, the machine, the installed versions and, in a clone, the commit."""
    found = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine.describe(),
        "versions": machine.versions(),
    }
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    with suppress(OSError, subprocess.CalledProcessError):
        said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        found["commit"] = said.strip()
    return found


def read(path: Path) -> Record:
    """The content of the file; empty if there is none."""
    return json.loads(path.read_text()) if path.exists() else {}


def write(path: Path, record: Record) -> None:
    """Replace the file atomically."""
    with replacing(path) as out:
        out.write(f"{json.dumps(record, indent=1)}\n".encode())
