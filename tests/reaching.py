"""A reach in tests: the real Codex CLI, a ledger and a gate of its own, and the server that answers it."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.codex.codex import Missing, find_codex
from aria_dream.adapters.codex.codex_reacher import CodexReacher, Elsewhere
from aria_dream.adapters.gate.consent import write_consent
from aria_dream.adapters.gate.egress import ClearedText, Gate
from aria_dream.adapters.gate.ledger import Granted, read_ledger, reserve, settle
from aria_dream.policy.policy import parse_policy
from aria_dream.policy.settings import Settings
from aria_dream.privacy.sharing import ShareableExcerpt, excerpt_text, survey
from aria_dream.reach.reach_record import read_end

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aria_dream.reach.budget import Resolution
    from aria_dream.reach.reach_events import ReachEnd

INSTALLED = Path(sys.prefix) / "codex" / "node_modules" / ".bin"
"""Where `make codex` puts Codex CLI."""
HOSTED, NESTED = "gpt-5.5", "gpt-5.6-sol"
"""A model that searches at the server, and one that searches through a script on this machine."""
PROMPT = "Do the two belong together?"
PLENTY = Settings(reach_requests_per_5h=1000, reach_requests_per_week=1000, monthly_reach_ceiling=1000)


def codex_program() -> Path:
    """The real program; the test is skipped, saying so, where it is not installed."""
    found = find_codex(Path("/nowhere"), {"PATH": str(INSTALLED)})
    if isinstance(found, Missing) or not found.is_relative_to(Path(os.path.realpath(INSTALLED)).parent):
        pytest.skip("Codex CLI is not installed for tests; `make codex` installs it")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What one reach came to."""

    end: ReachEnd
    verdict: Resolution
    """As the ledger has it now."""
    spent: int
    """Requests that the ledger counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A vault, a state folder and an account's home, in a test's own folder."""

    folder: Path
    settings: Settings = PLENTY
    environ: Mapping[str, str] = field(default_factory=dict)
    """What the account has beside PATH and HOME."""

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def made(self) -> Scene:
        """The same, with its folders on the disk."""
        for place in (self.vault, self.state, self.home):
            place.mkdir(exist_ok=True)
        return self

    def with_settings(self, **settings: object) -> Scene:
        """The same under another policy."""
        return replace(self, settings=replace(self.settings, **settings))  # type: ignore[arg-type]  # names of keys

    def account(self) -> dict[str, str]:
        """The environment of whoever starts the reach."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "USERPROFILE": str(self.home), **self.environ}

    def reacher(self, elsewhere: Elsewhere | None) -> CodexReacher:
        """Who asks."""
        return CodexReacher(vault=self.vault, state=self.state, settings=self.settings, environ=self.account(),
                            elsewhere=elsewhere)  # fmt: skip

    def granted(self) -> Granted:
        """Leave, with its row on the disk."""
        found = reserve(self.state, self.settings, UTC, kind="internal")
        assert isinstance(found, Granted)
        return found

    def reach(
        self, elsewhere: Elsewhere, *, prompt: str = PROMPT, should_stop: Callable[[], str] = lambda: ""
    ) -> Reached:
        """One reach, from its reservation to its resolution."""
        granted = self.granted()
        end = self.reacher(elsewhere).run(cleared(self.state, prompt), granted, should_stop=should_stop)
        _, verdict = read_end(end)
        settle(self.state, UTC, reach_id=granted.row.id, verdict=verdict, requests=end.run.requests)
        rows = [row for row in read_ledger(self.state)[0] if row.id == granted.row.id]
        assert rows[0].verdict == "initiated"
        unsent = any(row.verdict == "unsent" for row in rows)
        return Reached(
            end=end,
            verdict=verdict,
            spent=0 if unsent else sum(row.requests for row in rows if row.verdict in ("initiated", "excess")),
        )


def provider(url: str, **more: object) -> dict[str, object]:
    """The fields of a provider at `url` that asks for a key."""
    return {"name": "OpenAI", "base_url": f"{url}/v1", "wire_api": "responses", "env_key": "TEST_KEY", **more}


def at_server(url: str, **environ: str) -> Elsewhere:
    """The real program, asking the server at `url` with a key."""
    return Elsewhere(provider=provider(url), environ={"TEST_KEY": "no-secret", **environ}, program=codex_program())


def cleared(state: Path, text: str) -> ClearedText:
    """The text, through the real gate."""
    write_consent(state, datetime(2026, 11, 30, tzinfo=UTC))
    sharing = survey([], parse_policy("")[0])[0]
    excerpt = excerpt_text(sharing, "Compost wants air.", title="Compost")
    assert isinstance(excerpt, ShareableExcerpt)
    found = Gate(state=state, sharing=sharing, purpose="reach").clear_text("Codex (test)", [excerpt], lambda: text)
    assert isinstance(found, ClearedText)
    return found


def snapshot(*folders: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file below `folders`, with its size, time and content."""
    found: dict[str, tuple[int, int, bytes]] = {}
    for folder in folders:
        for place in sorted(folder.rglob("*")):
            status = place.lstat()
            content = place.read_bytes() if place.is_file() else b""
            found[str(place)] = (status.st_size if content else 0, status.st_mtime_ns if content else 0, content)
    return found


def wait_until(is_so: Callable[[], object], *, timeout_s: float = 90.0, what: str = "it") -> None:
    """Returns once `is_so()` holds."""
    until = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < until, f"{what} did not happen"
        time.sleep(0.02)
