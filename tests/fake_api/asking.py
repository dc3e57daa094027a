import json as _json
from typing import Any, Dict, List
from urllib.parse import urlsplit

from mistral_knowledge.fake_api import ApiReply, ApiRequest, KnowledgeApi

NOWHERE = "11111111-1111-4111-8111-111111111111"
FEES = b"# Fees\n\nThe entry fee is 12 euros.\n\n# Hours\n\nThe museum closes at five.\n"


def multipart(filename: str, content: bytes, mime: str = "", **fields: str) -> bytes:
    parts = [
        f'--B\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    kind = f"Content-Type: {mime}\r\n" if mime else ""
    head = (
        f'--B\r\nContent-Disposition: form-data; name="file"; filename="{filename}"\r\n{kind}\r\n'
    )
    return b"".join([*parts, head.encode(), content, b"\r\n--B--\r\n"])


MULTIPART = {"content-type": "multipart/form-data; boundary=B"}


class Asker:
    """Asks the API as a client would, in one line."""

    def __init__(self, api: KnowledgeApi) -> None:
        self.api = api

    def reply(self, method: str, url: str, json: Any = None, **fields: Any) -> ApiReply:
        if json is not None:
            fields["body"] = _json.dumps(json).encode()
        parts = urlsplit(url)
        return self.api.handle(ApiRequest(method, parts.path, parts.query, **fields))

    def __call__(self, method: str, url: str, json: Any = None, **fields: Any) -> Any:
        return _json.loads(self.reply(method, url, json, **fields).body())

    def status(self, method: str, url: str, json: Any = None, **fields: Any) -> int:
        return self.reply(method, url, json, **fields).status

    def library(self, name: str = "Museum") -> str:
        return f"/v1/libraries/{self('POST', '/v1/libraries', {'name': name})['id']}"

    def upload(self, library: str, name: str, content: bytes, mime: str = "") -> Dict[str, Any]:
        body = multipart(name, content, mime)
        document = self("POST", f"{library}/documents", body=body, headers=MULTIPART)
        assert "id" in document, document
        return dict(document)

    def ready(self, library: str, name: str, content: bytes, mime: str = "") -> Dict[str, Any]:
        path = f"{library}/documents/{self.upload(library, name, content, mime)['id']}"
        for _ in range(2):
            document = self("GET", path)
        return dict(document)

    def file(self, name: str, content: bytes, **fields: str) -> Dict[str, Any]:
        body = multipart(name, content, **fields)
        return dict(self("POST", "/v1/files", body=body, headers=MULTIPART))

    def answer(self, library: str, question: str, **fields: Any) -> Any:
        return self("POST", "/v1/chat/completions", asking(library, question, **fields))

    def content(self, library: str, question: str, **fields: Any) -> Any:
        return self.answer(library, question, **fields)["choices"][0]["message"]["content"]

    def text(self, library: str, question: str) -> str:
        content = self.content(library, question)
        if isinstance(content, str):
            return content
        return "".join(chunk.get("text", "") for chunk in content)

    def events(self, library: str, question: str, **fields: Any) -> List[bytes]:
        body = asking(library, question, stream=True, **fields)
        return list(self.reply("POST", "/v1/chat/completions", body).pieces)


def asking(library: str, question: str, **fields: Any) -> Dict[str, Any]:
    tool = {"type": "document_library", "library_ids": [library.rpartition("/")[2]]}
    messages = [{"role": "user", "content": question}]
    return {"model": "mistral-medium-latest", "messages": messages, "tools": [tool], **fields}


def issues(payload: Any) -> List[Any]:
    """The places and kinds of a 422."""
    detail = payload["detail"] if "detail" in payload else payload["message"]["detail"]
    return [(entry["loc"], entry["type"]) for entry in detail]
