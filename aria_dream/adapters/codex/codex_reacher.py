"""One reach through Codex CLI, behind the wall: started, watched, counted, and ended when it must be.

It takes only what the gate has cleared and the ledger has granted. What the program or the network does is never
raised; it is in the `ReachEnd`.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from aria_dream.adapters.codex.codex import Missing, account_server, find_codex, find_login, read_version
from aria_dream.adapters.codex.codex_process import CodexProcess
from aria_dream.adapters.codex.codex_relay import Relay
from aria_dream.adapters.codex.codex_wall import FOLDER, LOCK, prepare_room, wall_arguments, wall_environment
from aria_dream.adapters.disk.lock import VaultLock
from aria_dream.errors import BusyError, WriteRefusedError
from aria_dream.reach.reach_events import EventReader, Failure, ReachEnd, ReachRun, RequestCount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from aria_dream.adapters.codex.codex_wall import Room
    from aria_dream.adapters.gate.egress import ClearedText
    from aria_dream.adapters.gate.ledger import Granted
    from aria_dream.policy.settings import Settings

LOOK_S = 0.1
"""How often somebody's return and the clock are looked at."""
LOCK_WAIT_S = 5.0
MOST_LINES = 200_000
"""Lines of events after which a run is ended: a turn has some hundred."""
_LIST_TIMEOUT_S = 20.0
_MACHINE_WIDE = (Path("/etc/codex"), Path(os.environ.get("PROGRAMDATA", "/nowhere"), "OpenAI", "Codex"))
"""Where Codex CLI reads a configuration for all accounts."""
MANAGED = "managed_config.toml"
"""An administrator's, there, which outranks every word of a command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """Another server than the account's, for tests: a provider's fields, and what its key and the like need."""

    provider: Mapping[str, object] | None = None
    """None: the account's own provider and login, with `environ` alone changed."""
    environ: Mapping[str, str] = field(default_factory=dict)
    program: Path | None = None


@dataclass(frozen=True, slots=True)
class Watched:
    """A run, and what it left behind."""

    end: ReachEnd
    left: tuple[str, ...] = ()
    """Files that it wrote, such as `scratch/owned`. The wall lets it write none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodexReacher:
    """Asks through the account's Codex CLI."""

    vault: Path
    """Nothing is run from it, and nothing is written into it."""
    state: Path
    """The account's state folder."""
    settings: Settings
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    elsewhere: Elsewhere | None = None
    """Given by tests alone, never from a policy or a vault."""

    @property
    def destination(self) -> str:
        """As the log names it: `Codex (gpt-5.5)`."""
        return f"Codex ({self.settings.reach_model})"

    def missing(self) -> str:
        """Why nobody can be asked from this machine, as one clause; `""` where somebody can. Starts nothing."""
        return next((one.reason for one in (self._program(), self._login()) if isinstance(one, Missing)), "")

    def version(self) -> str:
        """What the program says its version is; `""` where there is none. Starts it, sends nothing."""
        program = self._program()
        if isinstance(program, Missing):
            return ""
        path = self.environ.get("PATH", os.defpath)
        return read_version(program, {"PATH": path, "HOME": str(self.state), "CODEX_HOME": str(self.state / FOLDER)})

    def run(self, cleared: ClearedText, granted: Granted, *, should_stop: Callable[[], str]) -> ReachEnd:
        """One run, ended when it takes longer or searches oftener than the policy says, or when `should_stop()` gives a
        reason. Returns once nothing of it is left."""
        return self.run_watched(cleared, granted, should_stop=should_stop).end

    def run_watched(self, cleared: ClearedText, granted: Granted, *, should_stop: Callable[[], str]) -> Watched:
        """As `run`, and what the run left in its folders, which are empty when it begins."""
        program, login = self._program(), self._login()
        for found in (program, login):
            if isinstance(found, Missing):
                return Watched(_not_started(found.reason))
        assert not isinstance(program, Missing)
        assert not isinstance(login, Missing)
        try:
            with VaultLock(self.state / LOCK, "a reach").held(LOCK_WAIT_S), prepare_room(
                self.state, self.vault, login
            ) as room:
                environ = self._environment(room)
                if hole := _hole(program, environ, room):
                    return Watched(_not_started(hole))
                with Relay(self._server(login), max(1, granted.row.requests)) as relay:
                    end = self._run(program, environ, room, relay, cleared.text, should_stop)
                return Watched(end, tuple(_left_in(room)))
        except BusyError:
            return Watched(_not_started("another reach is under way on this machine"))
        except (OSError, WriteRefusedError) as error:
            return Watched(_not_started(str(error)))

    def _program(self) -> Path | Missing:
        if self.elsewhere is not None and self.elsewhere.program is not None:
            return self.elsewhere.program
        return find_codex(self.vault, self.environ)

    def _login(self) -> Path | Missing | None:
        provider = self.elsewhere.provider if self.elsewhere is not None else None
        if provider is not None and not provider.get("requires_openai_auth"):
            return None
        return find_login(self.environ)

    def _environment(self, room: Room) -> dict[str, str]:
        environ = wall_environment(self.environ, codex_home=room.codex_home, home=room.home,
                                   temporary=room.temporary, vault=self.vault)  # fmt: skip
        return environ | dict(self.elsewhere.environ if self.elsewhere is not None else {})

    def _server(self, login: Path | None) -> str:
        """Where the requests go to in the end."""
        provider = self.elsewhere.provider if self.elsewhere is not None else None
        if provider is not None:
            return str(provider.get("base_url", "http://127.0.0.1:9"))
        assert login is not None
        return account_server(login)

    def _run(
        self,
        program: Path,
        environ: Mapping[str, str],
        room: Room,
        relay: Relay,
        prompt: str,
        should_stop: Callable[[], str],
    ) -> ReachEnd:
        provider = self.elsewhere.provider if self.elsewhere is not None else None
        words = wall_arguments(self.settings, room.scratch, server=relay.url, elsewhere=provider)
        heard = _Heard(relay)
        started_s = monotonic()
        process = CodexProcess([program, *words], prompt=prompt, environ=environ, folder=room.scratch,
                               on_line=heard.take, on_complaint=heard.take_complaint)  # fmt: skip
        relay.on_refusal = heard.on_excess = process.stirred.set
        stopped, code = "", None
        try:
            while (code := process.watch(LOOK_S)) is None:
                if stopped := self._reason(heard, monotonic() - started_s) or should_stop():
                    break
        finally:
            process.close()
            relay.ending.set()  # what it asked for last is not let out behind the count
        return heard.end(stopped or heard.excess, code or 0, monotonic() - started_s)

    def _reason(self, heard: _Heard, seconds: float) -> str:
        settings = self.settings
        if heard.excess:
            return heard.excess
        if heard.web_turns > settings.max_web_turns:
            return f"it searched the web more than {settings.max_web_turns} times"
        if seconds >= settings.reach_timeout_s:
            return f"it took longer than {settings.reach_timeout_s} s"
        if kind := heard.acted:
            return f"it began to act ({kind}), which the wall forbids"
        if heard.has_servers:
            return "this machine's configuration of Codex CLI starts tool servers (MCP); a reach may have none"
        return "it talked without end" if heard.lines > MOST_LINES else ""


class _Heard:
    """What the relay and the two streams of one run amount to so far. Each stream has one thread."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._events = EventReader()
        self._count = RequestCount()
        self._complaints: deque[str] = deque(maxlen=5)
        self.lines = 0
        self.on_excess: Callable[[], None] = lambda: None

    @property
    def web_turns(self) -> int:
        """Finished web turns."""
        return self._events.web_turns

    @property
    def acted(self) -> str:
        """What it did beyond reading and talking; `""` where it did nothing of the kind."""
        return self._events.acted

    @property
    def has_servers(self) -> bool:
        """Whether it has tool servers, which the wall allows none of."""
        return self._count.has_servers

    @property
    def excess(self) -> str:
        """That it wanted more requests than were set aside, as a clause; `""` where it did not."""
        relay = self._relay
        # A program that passes the relay by is believed what it tells, and ended as soon as it tells it.
        if not (relay.refused if relay.heard else self._count.requests > relay.allowed):
            return ""
        aside = "the one request that was" if relay.allowed == 1 else f"the {relay.allowed} requests that were"
        return f"it wanted more than {aside} set aside for it (`requests_per_reach`), and was ended there"

    def take(self, line: str) -> None:
        """One line of events."""
        self.lines += 1
        self._events.take(self._named(line))

    def take_complaint(self, line: str) -> None:
        """One line of stderr."""
        self._count.take(line)
        if self.excess:
            self.on_excess()
        text = self._named(line).strip()
        if text and " codex_otel." not in line and not text.startswith(("WARNING:", "warning:")):
            self._complaints.append(text[:300])

    def _named(self, line: str) -> str:
        """The line with the server that is meant where it names the relay."""
        return line.replace(self._relay.url, self._relay.server)

    def end(self, stopped: str, code: int, seconds: float) -> ReachEnd:
        """How the run ended; `code` is the program's exit code. A turn that it calls complete is none if it fails."""
        run = self._events.run(ended=bool(stopped))
        relay, told = self._relay, self._count
        if relay.heard:
            run = replace(run, sent=relay.sent > 0, requests=relay.sent)
        elif told.is_told:  # nothing asked the relay: it ended before its first request, or passed the relay by
            sent = told.heard or self._events.has_items
            run = replace(run, sent=sent, requests=max(1, told.requests) if sent else 0)
        if run.failure is not None and relay.unreached and not relay.sent:
            run = replace(run, failure=Failure("unreachable", relay.unreached))
        if run.failure is not None and run.failure.kind == "not started" and not run.failure.message:
            said = " ".join(self._complaints) or "it ended at once and said nothing"
            run = replace(run, failure=Failure("not started", said[:500]))
        if run.failure is None and code:
            run = replace(run, failure=Failure("failed", f"it ended with code {code}"))
        return ReachEnd(run=run, stopped=stopped, partial=run.last_message if stopped else "", seconds=seconds)


def _not_started(reason: str) -> ReachEnd:
    failure = Failure("not started", reason)
    return ReachEnd(run=ReachRun(sent=False, web_turns=0, requests=0, last_message="", failure=failure))


def _left_in(room: Room) -> Iterator[str]:
    for name, folder in (("scratch", room.scratch), ("home", room.home)):
        yield from (f"{name}/{place.relative_to(folder).as_posix()}" for place in sorted(folder.rglob("*")))


def _hole(program: Path, environ: Mapping[str, str], room: Room) -> str:
    """Why a configuration of the whole machine leaves the wall a hole; `""` where it leaves none.

    It may start MCP servers, and nothing on a command line clears them (tried). Asking which there are starts none. Not
    seen: what an administrator of macOS sets by a profile; a run that acts or has servers is ended all the same.
    """
    if not any(place.exists() for place in _MACHINE_WIDE):
        return ""
    managed = next((place / MANAGED for place in _MACHINE_WIDE if (place / MANAGED).exists()), None)
    if managed is not None:  # tried: it gives the shell back, whatever the command line says
        return f"{managed} outranks the wall around a reach, so none is made while it is there"
    try:
        done = subprocess.run(  # noqa: S603 - the program that was found
            [program, "mcp", "list", "--json"], stdin=subprocess.DEVNULL, capture_output=True, env=dict(environ),
            timeout=_LIST_TIMEOUT_S, check=False, cwd=room.scratch)
        servers = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"Codex CLI cannot be started: {error}"
    except (ValueError, RecursionError):
        return "Codex CLI does not say which tool servers this machine's configuration starts"
    if not isinstance(servers, list):
        return "Codex CLI does not say which tool servers this machine's configuration starts"
    names = [str(one.get("name")) if isinstance(one, dict) else "?" for one in servers]
    if not names:
        return ""
    return f"this machine's configuration of Codex CLI starts tool servers ({', '.join(names)}); a reach may have none"
