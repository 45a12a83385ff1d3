"""What the last green run on a GPU was a run of."""

import hashlib
import json
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "tests" / "gpu" / "validated.json"
CODE = ("kernels", "rapids_bfs/engines")


def code_hash() -> str:
    """SHA-256 over the names and contents of the kernels and engines."""
    digest = hashlib.sha256()
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.*")):
            if path.suffix in (".py", ".cu", ".cuh"):
                digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def warning() -> str | None:
    """None, or one line: why the code here is not what last ran green on a GPU."""
    if not RECORD.exists():
        return "kernels and engines have not run green on a GPU yet: pytest -m gpu"
    record = json.loads(RECORD.read_text())
    if record["sha256"] == code_hash():
        return None
    return (
        f"kernels or engines have changed since they ran green on {record['card']} on {record['date']}: pytest -m gpu"
    )
