"""The one gate that every call to another machine passes. It takes only `ShareableExcerpt`s and logs what leaves.

An address counts as this machine only if it is spelled plainly and every address that its name means is a loopback one.
The connection is then made to the very address that was looked at, so that a name which means something else a moment
later changes nothing. `egress.jsonl` is read back here as well: it holds hashes and counts, never text.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aria_dream.adapters.disk.journal import Journal
from aria_dream.adapters.disk.lock import writer_lock
from aria_dream.adapters.gate.consent import HOW, has_consent
from aria_dream.errors import Problem, StateDamagedError
from aria_dream.notes.jsonl import as_mapping, as_moment, as_text, as_whole
from aria_dream.privacy.sharing import ShareableExcerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from aria_dream.privacy.sharing import Sharing

    Resolve = Callable[[str, int], Sequence[str]]

EGRESS = "egress.jsonl"
UNCONFIRMED = f"nobody confirmed on this machine that text of notes may leave it; {HOW}"
_SEAL = object()
_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|[0-9.]+)", re.IGNORECASE)
"""`2130706433`, `0x7f000001`, `127.1`, `0177.0.0.1`: spellings of addresses that programs read differently."""
_HOST_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]{0,62}\.?)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A server's address that has been looked at. Only `find_endpoint` makes one."""

    scheme: str
    host: str
    """As the policy says it, lower-cased, without brackets."""
    port: int
    base: str
    """Path before every call's own; `""` or one that begins with `/` and does not end with it."""
    address: str
    """The numeric address that is connected to."""
    is_loopback: bool
    others: tuple[str, ...] = ()
    """What the name means as well, on the same side of the gate: a server on `localhost` may listen on `::1` alone."""
    seal: object = field(repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise TypeError("only aria_dream.adapters.gate.egress makes an Endpoint")

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Turned:
    """The gate stays shut; nothing was sent."""

    reason: str
    """One clause for the writer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """A body that may leave, to this endpoint, and that is in the log already. Only the gate makes one."""

    endpoint: Endpoint
    body: bytes
    seal: object = field(repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise TypeError("only aria_dream.adapters.gate.egress clears a body")


def resolve_name(host: str, port: int) -> Sequence[str]:
    """Every numeric address that `host` means. Raises `OSError` where it means none."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def find_endpoint(url: str, *, resolve: Resolve = resolve_name) -> Endpoint | Turned:
    """The endpoint that `url` means, on this machine or another; or why it is none that anybody may be sent to.

    Turned away: other schemes, user names, queries, numbers in any but the usual spelling, zones, names with characters
    beyond ASCII, the unspecified address, and a name that means this machine and another one at once.
    """
    try:
        parts = urlsplit(url)
        port = {"http": 80, "https": 443}.get(parts.scheme) if parts.port is None else parts.port
    except ValueError:
        return Turned("the address cannot be read")
    host = (parts.hostname or "").rstrip(".")
    plain = parts.username is None and parts.password is None and "@" not in parts.netloc and "\\" not in url
    if parts.scheme not in ("http", "https") or not host or port is None or not plain or parts.query or parts.fragment:
        return Turned("the address is not a plain http:// or https:// one")
    if re.search(r"[\s\x00-\x1f%]", parts.netloc) or not parts.netloc.isascii():
        return Turned("the address holds characters that no host name has")
    if not re.fullmatch(r"[!-~]*", url.strip()) or port == 0:
        return Turned("the address holds what no address has; write other characters as %20 and the like")
    found = _addresses(host, port, resolve)
    if isinstance(found, Turned):
        return found
    return Endpoint(
        scheme=parts.scheme,
        host=host,
        port=port,
        base=parts.path.rstrip("/"),
        address=str(found[0]),
        is_loopback=found[0].is_loopback,
        others=tuple(str(address) for address in found[1:]),
        seal=_SEAL,
    )


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _addresses(host: str, port: int, resolve: Resolve) -> list[_Address] | Turned:
    """What the host means, all of it here or all of it elsewhere; never empty."""
    try:
        found: list[_Address] = [ipaddress.ip_address(host)]
    except ValueError:
        if _NUMERIC.fullmatch(host) or not _HOST_NAME.fullmatch(host):
            return Turned("the address is not spelled as usual; write 127.0.0.1 or a name")
        try:
            found = [ipaddress.ip_address(address.partition("%")[0]) for address in resolve(host, port)]
        except (OSError, ValueError, UnicodeError):
            return Turned(f"nobody knows the name {host}")
    if not found or any(address.is_unspecified or address.is_multicast for address in found):
        return Turned("the address is that of no single machine")
    if any(isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped for address in found):
        return Turned("the address is not spelled as usual; write 127.0.0.1 or a name")
    if len({address.is_loopback for address in found}) > 1:
        return Turned(f"{host} means this machine and another one")
    return sorted(dict.fromkeys(found), key=lambda address: address.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearedText:
    """A text that may leave for a program that sends it on, and that is in the log already. Only the gate makes one."""

    destination: str
    """Who gets it, as the log names it: `Codex (gpt-5.5)`."""
    text: str = field(repr=False)
    seal: object = field(repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise TypeError("only aria_dream.adapters.gate.egress clears a text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What stands between a judge or a reach and another machine."""

    state: Path
    """The account's state folder: log and confirmation."""
    sharing: Sharing
    purpose: str
    """As the log names it: `triage`, `reach`, `janus`, `probe`."""
    allowed: bool = True
    """What the policy says of endpoints: `allow_remote_triage`."""
    resolve: Resolve = resolve_name
    now: Callable[[], datetime] = lambda: datetime.now(UTC).astimezone()

    def admit(self, url: str) -> Endpoint | Turned:
        """The endpoint that may be asked: one on this machine, or another one that policy *and* confirmation permit."""
        endpoint = find_endpoint(url, resolve=self.resolve)
        if isinstance(endpoint, Turned) or endpoint.is_loopback:
            return endpoint
        return Turned(refusal) if (refusal := self._refusal(endpoint)) else endpoint

    def _refusal(self, endpoint: Endpoint) -> str:
        if not self.allowed:
            return f"{endpoint.host} is another machine, and the policy does not say `allow_remote_triage: on`"
        if self.sharing.closed:
            return self.sharing.closed
        if not has_consent(self.state):
            return f"{endpoint.host} is another machine, and nobody confirmed on this one that text may leave it; {HOW}"
        return ""

    def clear(
        self, endpoint: Endpoint, excerpts: Sequence[ShareableExcerpt], render: Callable[[], bytes]
    ) -> Cleared | Turned:
        """The body that `render` makes of `excerpts` and nothing else, logged; or why it stays here.

        Asked again for every call: a confirmation that was withdrawn counts at once.

        Raises:
            TypeError: something else than a `ShareableExcerpt` was to leave.
            WriteRefusedError: the log cannot be written, so nothing leaves.
        """
        _check(excerpts)
        if not endpoint.is_loopback and (refusal := self._refusal(endpoint)):
            return Turned(refusal)
        body = render()
        self._log(str(endpoint), excerpts, body)
        return Cleared(endpoint=endpoint, body=body, seal=_SEAL)

    def text_refusal(self) -> str:
        """Why no text may leave now through a program that sends it on; `""` where it may."""
        if self.sharing.closed:
            return self.sharing.closed
        return "" if has_consent(self.state) else UNCONFIRMED

    def clear_text(
        self, destination: str, excerpts: Sequence[ShareableExcerpt], render: Callable[[], str]
    ) -> ClearedText | Turned:
        """The text that `render` makes of `excerpts` and nothing else, logged; or why it stays here.

        For a program such as Codex CLI, which is no address: `destination` names it and its model.

        Raises:
            TypeError: something else than a `ShareableExcerpt` was to leave.
            WriteRefusedError: the log cannot be written, so nothing leaves.
        """
        _check(excerpts)
        if refusal := self.text_refusal():
            return Turned(refusal)
        text = render()
        self._log(destination, excerpts, text.encode("utf-8", "surrogatepass"))
        return ClearedText(destination=destination, text=text, seal=_SEAL)

    def show_text(self, excerpts: Sequence[ShareableExcerpt], render: Callable[[], str]) -> str:
        """The text that would leave. Nothing is sent and nothing logged, and no confirmation is needed for it.

        Raises:
            TypeError: something else than a `ShareableExcerpt` was to leave.
        """
        _check(excerpts)
        return render()

    def _log(self, destination: str, excerpts: Sequence[ShareableExcerpt], body: bytes) -> None:
        Journal(self.state / EGRESS, writer_lock(self.state)).append(self._record(destination, excerpts, body))

    def _record(self, destination: str, excerpts: Sequence[ShareableExcerpt], body: bytes) -> dict[str, object]:
        blanked: dict[str, int] = {}
        for kind, count in (pair for excerpt in excerpts for pair in excerpt.blanked):
            blanked[kind] = blanked.get(kind, 0) + count
        return {
            "version": 1,
            "at": self.now().isoformat(),
            "purpose": self.purpose,
            "destination": destination,
            "sha256": sha256(body).hexdigest(),
            "characters": len(body.decode("utf-8", "replace")),
            "excerpts": [
                {"sha256": sha256(f"{one.title}\0{one.text}".encode("utf-8", "surrogatepass")).hexdigest(),
                 "characters": len(one.title) + len(one.text)}
                for one in excerpts
            ],
            "blanked": blanked,
        }  # fmt: skip


def _check(excerpts: Sequence[ShareableExcerpt]) -> None:
    if not all(isinstance(excerpt, ShareableExcerpt) for excerpt in excerpts):
        raise TypeError("only a ShareableExcerpt may leave this machine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Egress:
    """One text that left, or was about to: it is logged before."""

    at: datetime
    purpose: str
    """`reach`, `janus`, `probe`, `triage`."""
    destination: str
    sha256: str
    """Of the whole text, 64 hex digits."""
    characters: int
    excerpts: int
    """How many excerpts were in it."""
    blanked: tuple[tuple[str, int], ...]
    """What had been taken out of them, by kind."""


def read_egress(state: Path) -> tuple[tuple[Egress, ...], tuple[Problem, ...]]:
    """Every record, oldest first, and lines that are none.

    Raises:
        StateDamagedError: the log is there and cannot be read.
    """
    try:
        records, problems = Journal(state / EGRESS, writer_lock(state)).read()
    except OSError as error:
        place = state / EGRESS
        raise StateDamagedError(f"{place} cannot be read ({error.strerror or error}); make it readable") from error
    found: list[Egress] = []
    faults = list(problems)
    for record in records:
        try:
            found.append(_egress(record))
        except (KeyError, TypeError, ValueError):
            faults.append(Problem(EGRESS, 0, "a record lacks something; it is not shown"))
    return tuple(found), tuple(faults)


def _egress(record: dict[str, object]) -> Egress:
    excerpts, blanked = record.get("excerpts", []), as_mapping(record.get("blanked", {}))
    return Egress(
        at=as_moment(record["at"]),
        purpose=as_text(record["purpose"]),
        destination=as_text(record["destination"]),
        sha256=as_text(record["sha256"]),
        characters=as_whole(record["characters"]),
        excerpts=len(excerpts) if isinstance(excerpts, list) else 0,
        blanked=tuple(sorted((kind, as_whole(count)) for kind, count in blanked.items())),
    )
