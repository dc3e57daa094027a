"""The requests transport keeps the contract of transports."""

from mistral_knowledge.testing import TransportContract
from mistral_knowledge.transports.requests import RequestsTransport


class TestRequestsTransport(TransportContract):
    def make_transport(self):
        return RequestsTransport()
