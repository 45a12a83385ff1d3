"""Records which code last passed `tests/gpu` on a GPU."""

import hashlib
import json
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rapids_bfs._core.cuda.driver import driver

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "tests" / "gpu" / "validated.json"
CODE = ("kernels", "rapids_bfs/engines")
ON_THE_HOST = ("kernels/cpu", "kernels/by_numpy", "rapids_bfs/engines/cpu", "rapids_bfs/engines/libraries")
PACKAGES = ("cupy", "cupy-cuda13x", "cupy-cuda12x", "numba", "numba-cuda", "numpy", "scipy")


def code_hash() -> str:
    """SHA-256 over the names and contents of the kernels and engines, without those that only the host runs."""
    digest = hashlib.sha256()
    hosts = {ROOT / folder for folder in ON_THE_HOST}
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.*")):
            if path.suffix in (".py", ".cu", ".cuh") and hosts.isdisjoint(path.parents):
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


class Recorder:
    """Writes `RECORD` at the end if every test of its folder ran and passed, in this process or in pytest-xdist's."""

    def __init__(self, config):
        self.config = config
        self.passed = set()
        self.spoiled = False

    def pytest_runtest_logreport(self, report):
        if Path(report.fspath).parent.name != RECORD.parent.name:
            return
        if report.when == "call" and report.passed:
            self.passed.add(Path(report.fspath).name)
        elif report.failed or report.skipped:
            self.spoiled = True

    def pytest_sessionfinish(self):
        whole = self.passed == {path.name for path in RECORD.parent.glob("test_*.py")}
        narrowed = self.config.option.keyword or any("::" in argument for argument in self.config.args)
        if whole and not narrowed and not self.spoiled:
            RECORD.write_text(json.dumps(record(), indent=2) + "\n")


def record() -> dict[str, object]:
    """The device, the day, the versions and the code that ran."""
    import cupy

    return {
        "card": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "date": datetime.now(UTC).date().isoformat(),
        "cuda": ".".join(map(str, driver().cuda)),
        "versions": {name: installed for name in PACKAGES if (installed := installed_version(name))},
        "sha256": code_hash(),
    }


def installed_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
