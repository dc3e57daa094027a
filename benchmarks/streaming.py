"""One answer, read to its end as it streams: by us, by the official SDK, and at the floor."""

from __future__ import annotations

import json
from typing import Any, Callable, Iterator

from .contenders import official, ours, session
from .wire import LIBRARY

Pieces = Callable[[], Iterator[str]]
QUESTION = "What was measured?"


def pieces_by_us(url: str) -> Pieces:
    """The text through an `AnswerStream`."""
    from mistral_knowledge import MessageEvent

    client = ours(url)

    def pieces() -> Iterator[str]:
        with client.rag.stream(QUESTION, libraries=LIBRARY) as stream:
            for event in stream:
                if isinstance(event, MessageEvent):
                    yield event.delta
        assert stream.answer.finish_reason == "stop"

    return pieces


def pieces_by_mistralai(url: str) -> Pieces:
    """The text through the official SDK's `chat.stream`."""
    client = official(url)
    messages = [{"role": "user", "content": QUESTION}]
    tools = [{"type": "document_library", "library_ids": [LIBRARY]}]

    def pieces() -> Iterator[str]:
        model = "mistral-medium-latest"
        with client.chat.stream(model=model, messages=messages, tools=tools) as stream:
            for event in stream:
                text = event.data.choices[0].delta.content
                if text:
                    yield text

    return pieces


def pieces_by_r2r(url: str) -> Pieces:
    """The text through the parser of R2R's client: its events, typed, from the same bytes."""
    from r2r import R2RClient
    from sdk.sync_methods.retrieval import parse_retrieval_event

    client = R2RClient(base_url=url)

    def pieces() -> Iterator[str]:
        body = {"stream": True, "messages": [{"role": "user", "content": QUESTION}]}
        for raw in client._make_streaming_request("POST", "chat/completions", json=body):
            if raw["data"].strip() == "[DONE]":
                continue  # it reads to the end
            text = parse_retrieval_event(raw).data["choices"][0]["delta"]["content"]
            if text:
                yield text

    return pieces


def conversation_by_us(url: str) -> Pieces:
    """The text of a conversation through an `AnswerStream`."""
    from mistral_knowledge import MessageEvent

    client = ours(url)

    def pieces() -> Iterator[str]:
        with client.rag.agent.stream(QUESTION, libraries=LIBRARY) as stream:
            for event in stream:
                if isinstance(event, MessageEvent):
                    yield event.delta
        assert stream.answer.conversation_id == "conv_1"

    return pieces


def conversation_by_mistralai(url: str) -> Pieces:
    """The text of a conversation through the official SDK's `conversations.start_stream`."""
    client = official(url)
    tools = [{"type": "document_library", "library_ids": [LIBRARY]}]

    def pieces() -> Iterator[str]:
        start = client.beta.conversations.start_stream
        with start(model="mistral-medium-latest", inputs=QUESTION, tools=tools) as stream:
            for event in stream:
                if event.event == "message.output.delta":
                    yield event.data.content

    return pieces


def conversation_at_the_floor(url: str) -> Pieces:
    """The same through requests, sseclient-py and json.loads."""
    import sseclient

    http = session()

    def pieces() -> Iterator[str]:
        for event in sseclient.SSEClient(chunks_at_the_floor(http, url)).events():
            payload = json.loads(event.data)
            if payload["type"] == "message.output.delta":
                yield payload["content"]

    return pieces


def pieces_at_the_floor(url: str) -> Pieces:
    """The text through requests, sseclient-py and json.loads, and nothing around them."""
    import sseclient

    http = session()

    def pieces() -> Iterator[str]:
        for event in sseclient.SSEClient(chunks_at_the_floor(http, url)).events():
            if event.data == "[DONE]":
                return
            text = json.loads(event.data)["choices"][0]["delta"]["content"]
            if text:
                yield text

    return pieces


def chunks_at_the_floor(http: Any, url: str) -> Iterator[bytes]:
    """The body's chunks as they arrive, through requests."""
    body = {"stream": True, "messages": [{"role": "user", "content": QUESTION}]}
    with http.post(f"{url}/v1/chat/completions", json=body, stream=True) as response:
        # None means: as they arrive. With its default sseclient-py would get 128 bytes at a time.
        yield from response.iter_content(chunk_size=None)
