"""Settings that all tests share."""

import validated
from hypothesis import HealthCheck, settings

# Compilation makes the first example slow; the machine may be shared.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")


def pytest_terminal_summary(terminalreporter):
    if line := validated.warning():
        terminalreporter.write_line(f"warning: {line}", yellow=True)
