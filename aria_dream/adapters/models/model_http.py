"""One HTTP exchange with a model's server: every wait has an end, nothing is followed, and no proxy sees loopback.

httpcore, the transport below httpx, by itself: it knows no environment, no redirects and no cookies, and its network
backend can be given the address to connect to and a clock for every single read, which httpx's own timeouts cannot do
(each byte that trickles in starts them again). Imported when a model is really asked.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from aria_dream.adapters.gate.egress import Cleared, Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import httpcore

LONGEST_ERROR_BYTES = 65_536
LONGEST_BODY_BYTES = 4_000_000
"""An answer of a thousand tokens is a hundred times smaller on either wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long each part of an exchange may take, in seconds."""

    connect_s: float
    load_s: float
    """Until the answer begins: a server loads its model and reads the prompt meanwhile. What it sends before, heads and
    comments to keep the line open, neither ends this wait nor lengthens it."""
    read_s: float
    """Between two pieces of the answer."""
    total_s: float
    """For all of it, whatever trickles in."""

    def within(self, left_s: float) -> Patience:
        """The same, ended after `left_s` at the latest."""
        return replace(self, total_s=min(self.total_s, left_s))


@dataclass(frozen=True, slots=True)
class Answered:
    """The server answered to its end, or until `take` had enough."""

    status: int
    body: bytes
    """Of an answer that is no 200, its first 64 kB; else empty, because `take` has had it."""
    whole: bool = True
    """False where `take` had enough."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """No answer, or not all of it."""

    kind: Literal["unreachable", "slow", "broken", "flood", "moved"]
    reason: str
    """One clause in our words."""
    location: str = ""
    """Where the server points, as it says it, where it `moved`."""


def is_listening(endpoint: Endpoint, timeout_s: float) -> bool:
    """Whether anything accepts a connection there. Imports no HTTP."""
    for address in (endpoint.address, *endpoint.others):
        with suppress(OSError), socket.create_connection((address, endpoint.port), timeout=timeout_s):
            return True
    return False


def exchange(
    endpoint: Endpoint,
    method: Literal["GET", "POST"],
    path: str,
    *,
    patience: Patience,
    take: Callable[[bytes], bool],
    has_begun: Callable[[], bool] = lambda: True,
    body: bytes | Cleared | None = None,
) -> Answered | Unanswered:
    """What became of one request. `take` is given each piece of a 200's body and says whether it has had enough;
    `has_begun` is asked after it whether an answer has begun, so that the shorter wait counts from then on.

    Closing the connection, which happens before this returns, is what makes Ollama and llama.cpp stop generating.

    Raises:
        TypeError: a body for another machine that the gate has not cleared for it.
    """
    import httpcore

    sent = _permitted(endpoint, body)
    clock = _Clock(patience)
    proxy = None if endpoint.is_loopback else find_proxy(endpoint.scheme, endpoint.host)
    if isinstance(proxy, Unanswered):
        return proxy
    try:
        with (
            _pool(endpoint, clock, proxy) as pool,
            pool.stream(
                method,
                _url(endpoint, path),
                headers=_headers(endpoint, sent),
                content=sent or None,  # b"" would send a length of 0 along
                extensions={"sni_hostname": endpoint.host},
            ) as response,
        ):
            if 300 <= response.status < 400:
                return _moved(response.headers)
            return _received(response.status, response.iter_stream(), clock, take, has_begun)
    except (httpcore.ConnectError, httpcore.ConnectTimeout):
        return Unanswered("unreachable", "the model's server cannot be reached")
    except httpcore.TimeoutException:
        return Unanswered("slow", "the model took too long")
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError):
        return Unanswered("broken", "the connection to the model broke off")


def _permitted(endpoint: Endpoint, body: bytes | Cleared | None) -> bytes:
    if isinstance(body, Cleared):
        if body.endpoint != endpoint:
            raise TypeError("this body was cleared for another endpoint")
        return body.body
    if body is not None and not endpoint.is_loopback:
        raise TypeError("only what the gate has cleared may be sent to another machine")
    return body or b""


def _moved(headers: Iterable[tuple[bytes, bytes]]) -> Unanswered:
    found = next((value for name, value in headers if name.lower() == b"location"), b"")
    reason = "the model's server points somewhere else, which is not followed"
    return Unanswered("moved", reason, found.decode("latin-1"))


def _received(
    status: int, pieces: Iterable[bytes], clock: _Clock, take: Callable[[bytes], bool], has_begun: Callable[[], bool]
) -> Answered | Unanswered:
    size_bytes = 0
    failed = bytearray()
    for piece in pieces:
        size_bytes += len(piece)
        if size_bytes > LONGEST_BODY_BYTES:
            return Unanswered("flood", "the model's answer does not end")
        if status != 200:
            failed += piece[: LONGEST_ERROR_BYTES - len(failed)]
            if len(failed) >= LONGEST_ERROR_BYTES:
                break
        elif take(piece):
            return Answered(status, b"", whole=False)
        if status != 200 or has_begun():
            clock.begin()
    return Answered(status, bytes(failed))


def _url(endpoint: Endpoint, path: str) -> str:
    return f"{endpoint}{endpoint.base}{path}"


def _headers(endpoint: Endpoint, body: bytes) -> list[tuple[str, str]]:
    host = str(endpoint).partition("://")[2]
    headers = [("Host", host), ("Accept", "*/*"), ("Accept-Encoding", "identity"), ("User-Agent", "aria-dream")]
    if body:
        headers += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    return headers


def _pool(endpoint: Endpoint, clock: _Clock, proxy: Proxy | None) -> httpcore.ConnectionPool:
    import httpcore

    if proxy is not None:
        return httpcore.HTTPProxy(
            proxy_url=proxy.url, proxy_auth=proxy.login, network_backend=_backend(clock, ()), retries=0
        )
    addresses = (endpoint.address, *endpoint.others)
    return httpcore.ConnectionPool(network_backend=_backend(clock, addresses), retries=0, http2=False)


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy."""

    url: str
    login: tuple[bytes, bytes] | None


def find_proxy(scheme: str, host: str) -> Proxy | Unanswered | None:
    """The user's HTTP proxy for that other machine; None where there is none.

    One of another kind (SOCKS) is not gone round: whoever set it does not want direct connections.
    """
    from urllib.parse import unquote_to_bytes, urlsplit
    from urllib.request import getproxies, proxy_bypass

    if proxy_bypass(host):
        return None
    named = getproxies()
    told = (named.get(scheme) or named.get("all") or "").strip()
    if not told:
        return None
    try:
        parts = urlsplit(told if "://" in told else f"http://{told}")
        port = parts.port
    except ValueError:
        return Unanswered("unreachable", "the proxy in this machine's environment cannot be read")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return Unanswered("unreachable", "the proxy in this machine's environment is none for HTTP")
    address = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    login = None
    if parts.username is not None:
        login = unquote_to_bytes(parts.username), unquote_to_bytes(parts.password or "")
    return Proxy(f"{parts.scheme}://{address}{f':{port}' if port else ''}", login)


class _Clock:
    """How long the next wait may last."""

    def __init__(self, patience: Patience, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._patience = patience
        self._monotonic = monotonic
        self._began_s = monotonic()
        self._has_begun = False

    def begin(self) -> None:
        """The answer has begun: from now on the shorter wait counts."""
        self._has_begun = True

    def connect_s(self) -> float:
        return max(0.001, min(self._patience.connect_s, self._left_s(self._patience.total_s)))

    def read_s(self) -> float:
        """0 once the time is over."""
        wait_s = self._patience.read_s if self._has_begun else self._left_s(self._patience.load_s)
        return max(0.0, min(wait_s, self._left_s(self._patience.total_s)))

    def _left_s(self, limit_s: float) -> float:
        return self._began_s + limit_s - self._monotonic()


def _backend(clock: _Clock, addresses: tuple[str, ...]) -> httpcore.NetworkBackend:
    """A network that connects to the first of `addresses` that answers, whatever the name says (to the name where there
    are none), and asks the clock before it waits."""
    import httpcore

    class Stream(httpcore.NetworkStream):
        def __init__(self, inner: httpcore.NetworkStream) -> None:
            self._inner = inner

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - the clock knows better
            left_s = clock.read_s()
            if left_s <= 0:
                raise httpcore.ReadTimeout
            return self._inner.read(max_bytes, left_s)

        def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 - as above
            left_s = clock.read_s()
            if left_s <= 0:
                raise httpcore.WriteTimeout
            self._inner.write(buffer, left_s)

        def close(self) -> None:
            self._inner.close()

        def start_tls(
            self, ssl_context: object, server_hostname: str | None = None, timeout: float | None = None  # noqa: ARG002
        ) -> httpcore.NetworkStream:
            return Stream(self._inner.start_tls(ssl_context, server_hostname, clock.connect_s()))  # type: ignore[arg-type]  # ssl would be imported for its name alone

        def get_extra_info(self, info: str) -> object:
            return self._inner.get_extra_info(info)

    class Backend(httpcore.SyncBackend):
        def connect_tcp(
            self, host: str, port: int, timeout: float | None = None, *args: object, **more: object  # noqa: ARG002
        ) -> httpcore.NetworkStream:
            *first, last = addresses or (host,)
            for address in first:
                with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                    return self._connected(address, port, *args, **more)
            return self._connected(last, port, *args, **more)

        def _connected(self, address: str, port: int, *args: object, **more: object) -> httpcore.NetworkStream:
            return Stream(super().connect_tcp(address, port, clock.connect_s(), *args, **more))  # type: ignore[arg-type]  # as above

    return Backend()
