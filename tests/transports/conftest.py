import ssl
import warnings

import pytest

from mistral_knowledge.transports.requests import RequestsTransport


@pytest.fixture(autouse=True)
def no_environment(monkeypatch, tmp_path):
    """No proxy, CA bundle or netrc of the machine has a say in these tests."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))


@pytest.fixture
def transport():
    transport = RequestsTransport()
    yield transport
    transport.close()


@pytest.fixture(scope="session")
def authority():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cryptography's farewell to Python 3.8
        import trustme
    return trustme.CA()


@pytest.fixture
def tls(authority, monkeypatch, tmp_path):
    """The server's side of TLS; the client trusts it through REQUESTS_CA_BUNDLE."""
    bundle = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(bundle))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(bundle))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    return context
