"""A certificate that a cluster of Dask's trusts, for tests of TLS."""

import shutil
import subprocess

import pytest


def security(folder):
    """A `distributed.Security` with a new key in ``folder``, both for servers and for clients."""
    distributed = pytest.importorskip("distributed")
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    certificate, key = str(folder / "certificate.pem"), str(folder / "key.pem")
    subject = ["-subj", "/CN=localhost", "-days", "2", "-keyout", key, "-out", certificate]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject], check=True, capture_output=True
    )
    ends = {
        f"tls_{role}_{what}": path
        for role in ("scheduler", "worker", "client")
        for what, path in (("cert", certificate), ("key", key))
    }
    return distributed.Security(tls_ca_file=certificate, require_encryption=True, **ends)
