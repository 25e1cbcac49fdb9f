"""Servers of language models for tests: they answer as Ollama and OpenAI-compatible servers document it, and misbehave
on request. Real sockets on loopback, one thread a request."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

KEEP = '{"reason": "both are fed on a schedule", "verdict": "keep"}'
DROP = '{"reason": "they only share a month", "verdict": "drop"}'
MODEL = {"name": "judge:latest", "model": "judge:latest", "digest": "4f2c" * 16, "size": 1}


@dataclass
class FakeModel:
    """What a fake server knows and what it was asked."""

    say: Callable[[dict[str, Any]], str] = lambda _request: KEEP
    """The answer's text to a request's body."""
    models: list[dict[str, Any]] = field(default_factory=lambda: [dict(MODEL)])
    status: int = 200
    """Of answers to questions."""
    error: object = "internal error"
    """What stands in an error's body."""
    refuse: Callable[[dict[str, Any]], str] = lambda _request: ""
    """Why a question is answered with 400; `""` where it is not."""
    last_line: dict[str, Any] = field(default_factory=dict)
    """Overrides keys of the stream's last line."""
    break_after: int | None = None
    """The connection is dropped after so many pieces of the answer."""
    recorded: bytes | None = None
    """Body of a 200 that is replayed as it was recorded, in small pieces, instead of what `say` says."""
    redirect: str = ""
    fail_first: int = 0
    """So many questions are answered with 503 before any other."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of the questions, in order."""
    paths: list[str] = field(default_factory=list)
    url: str = ""

    @property
    def prompts(self) -> list[str]:
        """All messages of each question in one text."""
        return ["\n".join(message["content"] for message in request["messages"]) for request in self.requests]


class _Handler(BaseHTTPRequestHandler):
    model: ClassVar[FakeModel]
    protocol_version = "HTTP/1.1"

    def log_message(self, *_arguments: object) -> None:
        pass

    def parse_request(self) -> bool:
        """As its base; what was asked of a proxy is answered as if it had been asked of the server itself."""
        understood = super().parse_request()
        self.asked = self.path if understood else ""
        if understood and not self.path.startswith("/"):
            self.path = urlsplit(self.path).path
        return understood

    def do_GET(self) -> None:
        self.model.paths.append(self.asked)
        if self.model.redirect:
            self._redirected()
        elif self.path == "/api/tags":
            self._whole(200, {"models": self.model.models})
        elif self.path == "/v1/models":
            listed = [{"id": each["name"], "object": "model", "created": 1} for each in self.model.models]
            self._whole(200, {"object": "list", "data": listed})
        else:
            self._whole(404, {"error": "not found"})

    def do_POST(self) -> None:
        self.model.paths.append(self.asked)
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.model.requests.append(request)
        if self.model.redirect:
            self._redirected()
        elif self.model.fail_first > 0:
            self.model.fail_first -= 1
            self._whole(503, {"error": "server busy, please try again"})
        elif self.model.status != 200:
            self._whole(self.model.status, {"error": self.model.error})
        elif refusal := self.model.refuse(request):
            self._whole(400, {"error": {"message": refusal, "type": "invalid_request_error", "code": 400}})
        elif self.model.recorded is not None:
            whole = self.model.recorded
            self._stream("text/event-stream", [whole[at : at + 50] for at in range(0, len(whole), 50)])
        elif self.path == "/api/chat":
            self._ollama(request)
        else:
            self._openai(request)

    def _ollama(self, request: dict[str, Any]) -> None:
        head = {"model": request["model"], "created_at": "2026-11-30T03:12:00Z"}
        text = self.model.say(request)
        lines = [
            {**head, "message": {"role": "assistant", "content": text[at : at + 7]}, "done": False}
            for at in range(0, len(text), 7)
        ]
        end = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
        lines.append({**head, **end, "prompt_eval_count": 900, "eval_count": 30, **self.model.last_line})
        self._stream("application/x-ndjson", [json.dumps(line) + "\n" for line in lines])

    def _openai(self, request: dict[str, Any]) -> None:
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": request["model"]}
        text = self.model.say(request)
        pieces: list[dict[str, Any]] = [
            {**head, "choices": [{"index": 0, "delta": {"content": text[at : at + 7]}, "finish_reason": None}]}
            for at in range(0, len(text), 7)
        ]
        pieces.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **self.model.last_line})
        pieces.append({**head, "choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 30}})
        events = [f"data: {json.dumps(piece)}\n\n" for piece in pieces]
        self._stream("text/event-stream", [": hello\n\n", *events, "data: [DONE]\n\n"])

    def _stream(self, kind: str, pieces: Sequence[str | bytes]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, piece in enumerate(pieces):
            if number == self.model.break_after:
                self.close_connection = True
                self.connection.close()
                return
            data = piece if isinstance(piece, bytes) else piece.encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def _whole(self, status: int, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _redirected(self) -> None:
        self.send_response(307)
        self.send_header("Location", self.model.redirect + self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_arguments: object) -> None:
        """A client that hangs up is part of the test."""


@contextmanager
def serving(model: FakeModel | None = None, *, address: str = "127.0.0.1") -> Iterator[FakeModel]:
    """A server on a free port of `address` for as long as the block lasts."""
    model = model or FakeModel()
    handler = type("Handler", (_Handler,), {"model": model})
    with _Server((address, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        model.url = f"http://{address}:{server.server_address[1]}"
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
