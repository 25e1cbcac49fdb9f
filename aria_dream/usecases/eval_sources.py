"""Whether a page that a model cites is there, and about the matter: its address is asked for, and nothing else leaves.

The rules of the gate hold: this machine's confirmation, a line in the log of what left before each request, http and
https alone, and the very address that was looked at. No address of this or a private network is asked, redirects
are followed one by one under the same rules, and every wait and every page has an end. No cookie, no text of a note.
Where the user has set an HTTP proxy, it is the proxy that connects, and its own idea of a name that counts.
"""

from __future__ import annotations

import html
import ipaddress
import re
import socket
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from aria_dream.adapters.disk.journal import Journal
from aria_dream.adapters.disk.lock import writer_lock
from aria_dream.adapters.gate.consent import has_consent
from aria_dream.adapters.gate.egress import EGRESS, UNCONFIRMED, Endpoint, Turned, find_endpoint, resolve_name
from aria_dream.adapters.models.model_http import Answered, Patience, Unanswered, exchange
from aria_dream.reach.citation import normal_url

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from aria_dream.adapters.gate.egress import Resolve
    from aria_dream.evals.reach_corpus import Finding

LONGEST_PAGE_BYTES = 400_000
"""More of a page is not read: what it is about stands at its beginning."""
MOST_HOPS = 4
PATIENCE = Patience(connect_s=10.0, load_s=15.0, read_s=10.0, total_s=30.0)
_GONE = frozenset({404, 410})
_TAGS = re.compile(rb"<(script|style)\b.*?</\1\s*>|<[^<>]*>", re.DOTALL | re.IGNORECASE)
_NO_TEXT = re.compile(rb"\A(?:%PDF|PK\x03\x04|\x89PNG|\xff\xd8)|\x00")


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of one address."""

    finding: Finding
    reason: str
    """One clause."""
    reached: bool = False
    """Whether any server answered, so that the network is there."""


def is_public(endpoint: Endpoint) -> bool:
    """Whether the endpoint lies in the open internet."""
    return ipaddress.ip_address(endpoint.address).is_global


@dataclass(kw_only=True)
class SourceCheck:
    """Looks at addresses, each once."""

    state: Path
    """The account's state folder: log and confirmation."""
    resolve: Resolve = resolve_name
    permitted: Callable[[Endpoint], bool] = is_public
    patience: Patience = PATIENCE
    now: Callable[[], datetime] = lambda: datetime.now(UTC).astimezone()
    _known: dict[tuple[str, tuple[str, ...]], Checked] = field(default_factory=dict)

    def refusal(self) -> str:
        """Why nothing may be looked at from this machine; `""` where it may."""
        return "" if has_consent(self.state) else UNCONFIRMED

    def check(self, url: str, about: Sequence[str] = ()) -> Checked:
        """Whether the page at `url` is there and holds one of `about`, in any case (empty: whatever it holds).

        A name that nobody knows and a page that its server does not have are `fabricated`; a server that wants a
        login, is busy or does not answer says nothing. What is no text is there, and nobody has read it.

        Raises:
            WriteRefusedError: the log cannot be written, so nothing leaves.
        """
        if refusal := self.refusal():
            return Checked("unknown", refusal)
        key = (url, tuple(about))
        if key not in self._known:
            self._known[key] = self._followed(url, about)
        return self._known[key]

    def _followed(self, url: str, about: Sequence[str]) -> Checked:
        reached = False
        for _ in range(MOST_HOPS):
            address = normal_url(url)
            endpoint = self._endpoint(address)
            if isinstance(endpoint, Checked):
                return Checked(endpoint.finding, endpoint.reason, reached)
            found = self._page(endpoint, address)
            if isinstance(found, Unanswered) and found.kind == "moved" and found.location:
                url, reached = urljoin(address, found.location), True
                continue
            return _judged(found, about, reached=reached)
        return Checked("unknown", "it points on and on", reached)

    def _endpoint(self, address: str) -> Endpoint | Checked:
        if not address:
            return Checked("unknown", "it is no address of a public page")
        parts = urlsplit(address)
        try:
            found = self.resolve(parts.hostname or "", parts.port or 443)
        except UnicodeError:
            return Checked("fabricated", "nobody can have that name")
        except OSError as error:
            unknown = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            return Checked("unknown" if unknown else "fabricated", "nobody knows the name")
        endpoint = find_endpoint(f"{parts.scheme}://{parts.netloc}", resolve=lambda _host, _port: found)
        if isinstance(endpoint, Turned):
            return Checked("unknown", endpoint.reason)
        return endpoint if self.permitted(endpoint) else Checked("unknown", "it lies in a private network")

    def _page(self, endpoint: Endpoint, address: str) -> tuple[int, bytes] | Unanswered:
        page = bytearray()

        def take(piece: bytes) -> bool:
            page.extend(piece)
            return len(page) >= LONGEST_PAGE_BYTES

        parts = urlsplit(address)
        self._log(endpoint, address)
        path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        answer = exchange(endpoint, "GET", path, patience=self.patience, take=take)
        return (answer.status, bytes(page)) if isinstance(answer, Answered) else answer

    def _log(self, endpoint: Endpoint, address: str) -> None:
        Journal(self.state / EGRESS, writer_lock(self.state)).append(
            {
                "version": 1,
                "at": self.now().isoformat(),
                "purpose": "resolve",
                "destination": str(endpoint),
                "sha256": sha256(address.encode()).hexdigest(),
                "characters": len(address),
                "excerpts": [],
                "blanked": {},
            }
        )


def _judged(found: tuple[int, bytes] | Unanswered, about: Sequence[str], *, reached: bool) -> Checked:
    if isinstance(found, Unanswered):
        reason = {
            "unreachable": "no server answers there", "slow": "it took too long", "broken": "the connection broke off",
            "flood": "the page does not end", "moved": "it points nowhere",
        }[found.kind]  # fmt: skip
        return Checked("unknown", reason, reached or found.kind in ("flood", "moved"))
    status, page = found
    if status in _GONE:
        return Checked("fabricated", f"there is no such page ({status})", reached=True)
    if not 200 <= status < 300:
        return Checked("unknown", f"the server says {status}", reached=True)
    if _NO_TEXT.search(page[:2_000]):
        return Checked("real", "it is there; it is no text and was not read", reached=True)
    text = " ".join(html.unescape(_TAGS.sub(b" ", page).decode("utf-8", "replace")).split()).casefold()
    if about and not any(phrase.casefold() in text for phrase in about):
        return Checked("irrelevant", "it is there, and about something else", reached=True)
    return Checked("real", "it is there", reached=True)
