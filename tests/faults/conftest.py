from ..transports.conftest import authority, tls

__all__ = ["authority", "tls"]
