"""A vault on the disk with all that a reach is made with, and somebody to ask who answers as a test wants."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.gate.consent import write_consent
from aria_dream.adapters.gate.egress import EGRESS
from aria_dream.adapters.gate.ledger import LEDGER, ReachStore
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.reach.budget import parse_ledger
from aria_dream.reach.reach_events import Failure, ReachEnd, ReachRun
from aria_dream.usecases.dream import DreamRequest
from aria_dream.usecases.dream_run import run_dream
from aria_dream.usecases.reach import Means, ReachRequest, ReachResult, reach_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from aria_dream.adapters.gate.egress import ClearedText
    from aria_dream.adapters.gate.ledger import Granted
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.policy.policy import Policy
    from aria_dream.reach.budget import LedgerRow
    from aria_dream.reach.reach_record import ReachKind
    from aria_dream.usecases.dream import DreamResult

POLICY = "---\naria-dream: policy\n---\n- triage_backend: off\n"
SEEDS = """\
---
aria-dream: seeds
---
## 2026-11-29 — Retrieval practice beats rereading
- kind: external-novelty
- status: open
- source: https://example.org/paper?id=7
- struck: testing is not only measuring
- resonance: flashcards, and [[Compost]]

## 2026-11-20 — Sleep replays the day backwards
- kind: external-novelty
- status: open   # since summer
- source: Foster & Wilson, 2006
"""
HOMES = (
    "HOMES\nEdge: fed cultures\nBoth are continuous cultures that live by feeding.\n"
    "Sources:\n- https://example.org/cultures?utm_source=x\n"
)
ORPHAN = "ORPHAN\nA claim nobody has made.\nThe nearest work stops short.\nSources:\n- https://example.org/near\n"
NEITHER = "NEITHER\nThe likeness is verbal.\nSources:\n"


def answered(text: str, *, requests: int = 1) -> ReachEnd:
    """A run that came to its end and said `text`."""
    run = ReachRun(sent=True, web_turns=0, requests=requests, last_message=text, failure=None)
    return ReachEnd(run=run, seconds=0.1)


def failed(kind: str, message: str = "", *, sent: bool = True, stopped: str = "", partial: str = "") -> ReachEnd:
    """A run that failed; `kind` as in `FailureKind`."""
    failure = Failure(kind, message)  # type: ignore[arg-type]  # tests name the kinds
    run = ReachRun(sent=sent, web_turns=0, requests=int(sent), last_message="", failure=failure)
    return ReachEnd(run=run, stopped=stopped, partial=partial, seconds=0.1)


@dataclass
class ScriptedReacher:
    """Answers in turn, and remembers what it was given. An answer may be something to do, such as to crash."""

    answers: list[ReachEnd | Callable[[], ReachEnd]]
    gone: str = ""
    """Why nobody can be asked."""
    sent: list[ClearedText] = field(default_factory=list)
    granted: list[Granted] = field(default_factory=list)
    destination: str = "Codex (gpt-5.5)"

    def missing(self) -> str:
        return self.gone

    def run(self, cleared: ClearedText, granted: Granted, *, should_stop: Callable[[], str]) -> ReachEnd:
        del should_stop
        self.sent.append(cleared)
        self.granted.append(granted)
        answer = self.answers.pop(0)
        return answer() if callable(answer) else answer


class ReachBench:
    """One vault, one account, a clock that a test moves."""

    def __init__(
        self, folder: Path, notes: dict[str, str], *answers: ReachEnd | Callable[[], ReachEnd], vault: str = "vault"
    ) -> None:
        self.root = folder / vault
        self.places = Places(state=folder / "state", cache=folder / "cache")
        self.now = datetime(2026, 11, 30, 14, 32, 7, tzinfo=UTC)
        self.reacher = ScriptedReacher(list(answers))
        self.asked_to_confirm: list[str] = []
        self.confirms = False
        self._nonces = itertools.count(1)
        for name, text in {"dreaming.md": POLICY, **notes}.items():
            if not (self.root / name).exists():
                self.write(name, text)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def home(self) -> None:
        """Makes `dreams/` ours, with the seeds of this module in it."""
        self.write("dreams/Dream review.md", "---\naria-dream: review\n---\n")
        self.write("dreams/Dream seeds.md", SEEDS)

    def consent(self) -> None:
        write_consent(self.places.state, self.now)

    def look(self) -> DreamtVault:
        return read_dreamt_vault(self.root, self.places, environ={})

    def policy(self) -> Policy:
        return read_live_policy(self.root, self.places, {}).policy

    @property
    def state(self) -> Path:
        return self.look().live.state_folder(self.places)

    def dream(self, *, start: str, at: datetime | None = None, seed: int = 4) -> DreamResult:
        """A dream that is written, as the writer had it before."""
        seen = self.look()
        request = DreamRequest(at=at or self.now - timedelta(hours=8), seed=seed, start=start, kind="idle dream")
        return run_dream(seen, self.places, RecordStore(self.state), request)[0]

    def means(self) -> Means:
        store = RecordStore(self.state)

        def confirm(destination: str) -> bool:
            self.asked_to_confirm.append(destination)
            if self.confirms:
                self.consent()
            return self.confirms

        return Means(
            state=self.places.state,
            look=self.look,
            policy_now=self.policy,
            files=DiskVault(self.root, self.state),
            records=store,
            store=ReachStore(self.state),
            reacher=self.reacher,
            dream=lambda seen, asked: run_dream(seen, self.places, store, asked)[0],
            confirm=confirm,
            clock=lambda: self.now,
            nonce=lambda: f"nonce{next(self._nonces):04}",
        )

    def reach(self, kind: ReachKind, *, start: str | None = None, **means: object) -> ReachResult:
        request = ReachRequest(at=self.now, kind=kind, start=start, host="here")
        return reach_once(request, replace(self.means(), **means))  # type: ignore[arg-type]

    def rehearse(self, kind: ReachKind, *, start: str | None = None) -> ReachResult:
        return reach_once(ReachRequest(at=self.now, kind=kind, start=start, dry_run=True), self.means())

    def ledger(self) -> tuple[LedgerRow, ...]:
        place = self.places.state / LEDGER
        return parse_ledger(place.read_text(encoding="utf-8"))[0] if place.exists() else ()

    def verdicts(self) -> list[str]:
        """What the ledger says, in order."""
        return [row.verdict for row in self.ledger()]

    def egress(self) -> str:
        place = self.places.state / EGRESS
        return place.read_text(encoding="utf-8") if place.exists() else ""

    def note(self) -> str:
        """The dream note of the day."""
        return self.read("dreams/2026-11-30 dream.md")

    def files(self) -> dict[str, bytes]:
        """Every file of the vault."""
        found: Iterable[Path] = (path for path in self.root.rglob("*") if path.is_file())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found}
