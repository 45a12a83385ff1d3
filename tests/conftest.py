"""Settings that all tests share."""

from hypothesis import HealthCheck, settings

# Compilation makes the first example slow; the machine may be shared.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")
