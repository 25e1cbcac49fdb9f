"""The one way from Codex CLI to its server: a relay on loopback that counts each request before it lets it out.

Codex is given the relay's address as its provider's. A request that was not set aside is not forwarded, whatever asked
for it: a refused tool, a search, a retry, a renewed login, a compaction. So no more is sent than was reserved, and what
was sent is known while the run lives. Everything but the list of models counts. Whoever starts a run holds the relay,
so a run whose parent is gone has no way out.

Bodies and headers pass as they are, the login among them; nothing is kept or logged. The relay listens on 127.0.0.1
under a path that nobody can guess, and forwards to one server alone. Not promised: that somebody who reads the command
lines of this machine cannot use up the run's requests; and that an account whose workspace is served from a place of
its own is found there, since Codex CLI 0.171.0 takes the relay for a server that has nothing to do with the account's.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from aria_dream.adapters.models.model_http import Unanswered, find_proxy

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType

    import httpcore

LONGEST_BODY_BYTES = 64 * 1024 * 1024
_FREE = ("GET", "/models")
"""The one request that no plan counts: which models there are."""
_PATIENCE = {"connect": 30.0, "write": 60.0, "read": 900.0, "pool": 30.0}
"""In seconds. Codex and the run's own clock end a silence long before."""
_HOP = frozenset({
    "connection", "host", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
    "trailer", "transfer-encoding", "upgrade", "expect", "location",
})  # fmt: skip
"""Headers that belong to one connection, and the one that would lead Codex past the relay."""
_CONNECTED = ("connection.connect_tcp.complete", "connection.start_tls.complete", "proxy.start_tls.complete")
"""What httpcore calls the moments at which there is a connection."""
_LOGIN = (401, 403)
_MOST_ECHOES = 3
"""Requests that get the login's refusal again: Codex renews the login and asks once more."""


class Relay:
    """A relay to `server` for at most `allowed` metered requests. Counts are to be read at any time."""

    def __init__(self, server: str, allowed: int) -> None:
        """`server`: the address that the provider would have."""
        self.server = server.rstrip("/")
        self.allowed = allowed
        self.heard = False
        """Whether any metered request came, sent or not."""
        self.sent = 0
        """Metered requests that left, or may have left."""
        self.refused = False
        """Whether one more was wanted than was set aside. It was not sent."""
        self.unreached = ""
        """Why the server could not be connected to, as one clause; `""` where it could."""
        self.ending = threading.Event()
        self.on_refusal: Callable[[], None] = lambda: None
        """Called when a request is held back, in a thread of ours."""
        self._lock = threading.Lock()
        self._status = self._echoes = 0
        self._sockets: set[socket.socket] = set()
        self._prefix = f"/{secrets.token_urlsafe(16)}"

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"relay": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, name="codex-relay", daemon=True
        ).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.ending.set()
        self._http.shutdown()
        self._http.server_close()
        with self._lock:
            for connection in self._sockets:
                _end(connection)  # the server stops working on what nobody waits for

    @property
    def url(self) -> str:
        """What takes the server's place: the same path behind another beginning."""
        return f"http://127.0.0.1:{self._http.server_address[1]}{self._prefix}{urlsplit(self.server).path}"

    def target(self, path: str) -> str:
        """The server's address for a path that was asked for here; `""` where that is none of the run's."""
        own = self._prefix + urlsplit(self.server).path
        return self.server + path.removeprefix(own) if path.startswith(f"{own}/") else ""

    def take(self) -> int:
        """0 where one more request may leave: it counts from now on. Else the status to answer with, or -1 for none."""
        with self._lock:
            self.heard = True
            if self.ending.is_set():
                return -1  # of a program that is ended already: it says nothing about the run
            if self.sent < self.allowed:
                self.sent += 1
                return 0
            if self._status in _LOGIN and self._echoes < _MOST_ECHOES:
                self._echoes += 1
                return self._status
            self.refused = True
        self.on_refusal()
        return -1

    def give_back(self, why: str) -> None:
        """The request that was taken did not leave."""
        with self._lock:
            self.sent -= 1
            self.unreached = why

    def answered(self, status: int) -> None:
        """The server's answer to the last request begins."""
        with self._lock:
            self._status = status

    def opened(self, connection: socket.socket) -> None:
        """There is a connection to the server, which ends with the run at the latest."""
        with self._lock:
            self._sockets.add(connection)
            if self.ending.is_set():
                _end(connection)

    def closed(self, connections: Iterable[socket.socket]) -> None:
        """These connections are at their end."""
        with self._lock:
            self._sockets.difference_update(connections)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    relay: Relay

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the class above
        """Says nothing."""

    def _take(self) -> None:
        self.close_connection = True
        relay, target = self.relay, self.relay.target(self.path)
        length = self.headers.get("Content-Length") or "0"
        if "Transfer-Encoding" in self.headers or not length.isdecimal() or int(length) > LONGEST_BODY_BYTES:
            self._refuse(411)
            return
        body = self.rfile.read(int(length))
        if not target or (self.command in ("GET", "HEAD") and not self._is_free()):
            self._refuse(404)
        elif self._is_free():
            self._forward(target, body, counted=False)
        elif (status := relay.take()) > 0:
            self._refuse(status)
        elif status < 0:
            relay.ending.wait()  # no answer: the run is ended, and any would only be asked about again
        else:
            self._forward(target, body, counted=True)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _take  # noqa: N815 - their names in the class above

    def _is_free(self) -> bool:
        return (self.command, urlsplit(self.relay.target(self.path)).path) == (
            _FREE[0], urlsplit(self.relay.server).path + _FREE[1])  # fmt: skip

    def _refuse(self, status: int) -> None:
        self._write(f"HTTP/1.1 {status} \r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}".encode())

    def _forward(self, target: str, body: bytes, *, counted: bool) -> None:
        import httpcore

        try:
            pool = _pool(target)
        except OSError as error:
            pool = Unanswered("unreachable", str(error))
        if isinstance(pool, Unanswered):
            if counted:
                self.relay.give_back(pool.reason)
            return
        parts = urlsplit(target)
        headers = [("Host", parts.netloc), *(
            (name, value) for name, value in self.headers.items() if name.lower() not in _HOP
        )]  # fmt: skip
        connections: list[socket.socket] = []

        def note(event: str, info: Mapping[str, Any]) -> None:
            if event in _CONNECTED:
                connections.append(info["return_value"].get_extra_info("socket"))
                self.relay.opened(connections[-1])

        try:
            with pool, pool.stream(
                self.command, target, headers=headers, content=body or None,
                extensions={"timeout": _PATIENCE, "trace": note},
            ) as response:  # fmt: skip
                self._pass_on(response)
        except (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.ProxyError) as error:
            if counted:
                self.relay.give_back(f"no connection to {parts.hostname}: {error}")
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError):
            pass  # Codex sees a stream that ends too early
        finally:
            self.relay.closed(connections)

    def _pass_on(self, response: httpcore.Response) -> None:
        self.relay.answered(response.status)
        head = [f"HTTP/1.1 {response.status} ".encode(), b"Connection: close"]
        head += [name + b": " + value for name, value in response.headers
                 if name.lower().decode("latin-1") not in _HOP]  # fmt: skip
        self._write(b"\r\n".join([*head, b"", b""]))
        for piece in response.iter_stream():
            self._write(piece)

    def _write(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _pool(target: str) -> httpcore.ConnectionPool | Unanswered:
    """A connection to the server, by the user's proxy where there is one. Never a second try."""
    import httpcore

    parts = urlsplit(target)
    if parts.hostname == "127.0.0.1":
        return httpcore.ConnectionPool(retries=0)
    proxy = find_proxy(parts.scheme, parts.hostname or "")
    if isinstance(proxy, Unanswered):
        return proxy
    context = _certificates()
    if proxy is not None:
        return httpcore.HTTPProxy(proxy_url=proxy.url, proxy_auth=proxy.login, ssl_context=context, retries=0)
    return httpcore.ConnectionPool(ssl_context=context, retries=0)


def _certificates() -> ssl.SSLContext:
    """Those that httpcore trusts, the system's, and the one that Codex CLI is told to trust as well."""
    from httpcore import default_ssl_context

    context = default_ssl_context()
    context.load_default_certs()
    if named := os.environ.get("CODEX_CA_CERTIFICATE"):
        context.load_verify_locations(cafile=named)
    return context
