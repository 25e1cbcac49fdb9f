"""A server on this machine that the real Codex CLI takes for the one it asks: scripted answers, every request kept.

It speaks the Responses API as Codex CLI 0.171.0 reads it, hosted web search and the nested one alike, lists no models,
and grants a new login to whoever refreshes an old one.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

Event: TypeAlias = "dict[str, Any]"

ANSWER = "NEITHER\nThe two only share a word.\nSources:\n- https://example.org/one"


@dataclass(frozen=True, slots=True)
class Seen:
    """One request that came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: str

    @property
    def metered(self) -> bool:
        """Whether it is one that a plan counts."""
        return self.method == "POST" and self.path.endswith(("/responses", "/alpha/search"))


@dataclass(frozen=True, slots=True)
class Reply:
    """What comes back to one request to `…/responses`."""

    events: tuple[Event, ...] = ()
    status: int = 200
    body: bytes = b""
    """Sent instead of events where it is not empty."""
    headers: tuple[tuple[str, str], ...] = ()
    cut: bool = False
    """The connection is closed before the last event."""
    silent: bool = False
    """Nothing comes back while the server lives."""
    hold: bool = False
    """After the events nothing more comes, and the stream stays open."""


def message(text: str) -> Event:
    """The model's message, as an item of the stream."""
    content = [{"type": "output_text", "text": text}]
    return {"type": "response.output_item.done",
            "item": {"type": "message", "role": "assistant", "id": "m1", "content": content}}  # fmt: skip


def search(query: str, number: int = 1) -> Event:
    """A search that ran at the server (the hosted tool)."""
    item = {"type": "web_search_call", "id": f"ws{number}", "status": "completed",
            "action": {"type": "search", "query": query}}  # fmt: skip
    return {"type": "response.output_item.done", "item": item}


def script(source: str, number: int = 1) -> Event:
    """An order to run a script inside code mode; its nested tools run on the caller's machine."""
    return {"type": "response.output_item.done",
            "item": {"type": "custom_tool_call", "id": f"ct{number}", "call_id": f"call{number}", "name": "exec",
                     "namespace": "functions", "input": source}}  # fmt: skip


def tool(name: str, arguments: Mapping[str, object], number: int = 1) -> Event:
    """An order to call a function of the caller's."""
    return {"type": "response.output_item.done",
            "item": {"type": "function_call", "id": f"fc{number}", "call_id": f"call{number}", "name": name,
                     "arguments": json.dumps(arguments)}}  # fmt: skip


def patch(text: str, number: int = 1) -> Event:
    """An order to change files with the patch tool."""
    return {"type": "response.output_item.done",
            "item": {"type": "custom_tool_call", "id": f"ct{number}", "call_id": f"call{number}", "name": "apply_patch",
                     "input": text}}  # fmt: skip


def stream(*events: Event, **how: Any) -> Reply:
    """A whole answer made of these items."""
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15}  # fmt: skip
    return Reply(
        (
            {"type": "response.created", "response": {"id": "r1"}},
            *events,
            {"type": "response.completed", "response": {"id": "r1", "usage": usage}},
        ),
        **how,
    )


def refusal(status: int, kind: str, text: str, **more: object) -> Reply:
    """An error as the API words it."""
    return Reply(status=status, body=json.dumps({"error": {"type": kind, "message": text, **more}}).encode())


def token(expires_at: float, account: str = "account-1") -> str:
    """A login's token as the apps hold it, unsigned."""
    claims = {"exp": int(expires_at), "email": "writer@example.org",
              "https://api.openai.com/auth": {"chatgpt_plan_type": "plus", "chatgpt_account_id": account,
                                              "chatgpt_user_id": "user-1"}}  # fmt: skip
    return ".".join((_part({"alg": "none"}), _part(claims), "c2ln"))


def login(*, expires_at: float, refresh_token: str) -> str:
    """A login file as `codex login` leaves one."""
    tokens = {"id_token": token(4e9), "access_token": token(expires_at), "refresh_token": refresh_token,
              "account_id": "account-1"}  # fmt: skip
    return json.dumps({"auth_mode": "chatgpt", "OPENAI_API_KEY": None, "tokens": tokens,
                       "last_refresh": "2025-01-01T00:00:00Z"}, indent=2)  # fmt: skip


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


@dataclass
class ResponsesServer:
    """Answers the requests to `…/responses` with `replies` in turn, the last one again and again."""

    replies: Sequence[Reply] = (stream(message(ANSWER)),)
    on_request: Callable[[Seen], None] = lambda _seen: None
    refreshed: str = "refresh-2"
    """The refresh token of the login that it grants."""
    pages: Mapping[str, tuple[int, bytes]] = field(default_factory=dict)
    """Status and body of what is only read, by path; anything else is not found."""
    seen: list[Seen] = field(default_factory=list)
    _ending: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._ending.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    @property
    def url(self) -> str:
        """Its address, without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def metered(self) -> list[Seen]:
        """The requests that a plan would count."""
        with self._lock:
            return [seen for seen in self.seen if seen.metered]

    def everything(self) -> str:
        """All that any request said, for a canary to be looked for."""
        with self._lock:
            return "\n".join(f"{one.path}\n{dict(one.headers)}\n{one.body}" for one in self.seen)

    def wait_for(self, count: int, timeout_s: float = 90.0) -> None:
        """Returns once so many metered requests came."""
        until = time.monotonic() + timeout_s
        while len(self.metered) < count:
            assert time.monotonic() < until, f"{len(self.metered)} of {count} requests came"
            time.sleep(0.01)

    def take(self, seen: Seen) -> Reply:
        """Keeps the request; what to answer."""
        with self._lock:
            asked = sum(one.path.endswith("/responses") for one in self.seen)
            self.seen.append(seen)
        self.on_request(seen)
        return self.replies[min(asked, len(self.replies) - 1)]

    def stay_silent(self) -> None:
        """Holds a connection until the server ends."""
        self._ending.wait(120)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: ResponsesServer

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the class above
        """Says nothing."""

    def do_GET(self) -> None:
        self._take()
        self._send(*self.owner.pages.get(self.path, (404, b"{}")))

    def do_POST(self) -> None:
        reply = self._take()
        if self.path.endswith("/oauth/token"):
            granted = {"access_token": token(4e9), "id_token": token(4e9), "refresh_token": self.owner.refreshed}
            self._send(200, json.dumps(granted).encode())
        elif self.path.endswith("/alpha/search"):
            self._send(200, json.dumps({"encrypted_output": "", "output": "found: https://example.org/one"}).encode())
        elif not self.path.endswith("/responses"):
            self._send(404, b"{}")
        elif reply.silent:
            self.owner.stay_silent()
        elif reply.body:
            self._send(reply.status, reply.body, reply.headers)
        else:
            self._stream(reply)

    def do_CONNECT(self) -> None:
        """Turned away: nothing here is a way to anywhere else."""
        self._take()
        self._send(502, b"")

    def _take(self) -> Reply:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode("utf-8", "replace")
        return self.owner.take(Seen(self.command, self.path, dict(self.headers), body))

    def _send(self, status: int, body: bytes, headers: Sequence[tuple[str, str]] = ()) -> None:
        self.send_response(status)
        for name, value in headers or (("Content-Type", "application/json"),):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self._write(body)

    def _stream(self, reply: Reply) -> None:
        self.close_connection = True
        self.send_response(reply.status)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        events = reply.events[:-1] if reply.cut or reply.hold else reply.events
        for event in events:
            self._write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        if reply.hold:
            self.owner.stay_silent()

    def _write(self, body: bytes) -> None:
        try:
            self.wfile.write(body)
            self.wfile.flush()
        except OSError:
            self.close_connection = True
