"""`aria-dream reach --probe`: one trivial reach behind the same wall and within the same budget, and what it showed.

It retires the assumption that everything else rests on: that the model can search the web and cannot write. And it
measures what one reach costs, which is what `requests_per_reach` has to say. No word of the vault is sent.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.adapters.gate.authorised_send import note_backoff, send_authorised
from aria_dream.adapters.gate.egress import Turned
from aria_dream.adapters.gate.ledger import settle, utc_now
from aria_dream.judging.prompt_text import harmless_text
from aria_dream.notes.plain_text import clean
from aria_dream.reach.budget import BudgetRefusal
from aria_dream.reach.citation import inert
from aria_dream.reach.reach_record import failure_text, read_end

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, tzinfo
    from pathlib import Path

    from aria_dream.adapters.codex.codex_reacher import CodexReacher
    from aria_dream.adapters.gate.egress import Gate
    from aria_dream.reach.budget import Resolution

KIND = "probe"
"""Of its rows in the ledger, and its purpose in the log of what left."""
PROMPT = (
    "Search the web, once, for a paper of the last two years on how sleep consolidates memory. Then answer with two"
    " lines and nothing else: its title, and the address where you found it.\n"
)
LONGEST_ANSWER = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What a probe showed. Text of the model in it does nothing."""

    reason: str = ""
    """Why there is no answer, as one clause; `""` where there is one."""
    destination: str
    version: str = ""
    """Of Codex CLI; `""` where it did not say."""
    resolution: Resolution | None = None
    """As the ledger has it; None where nothing was reserved."""
    answer: str = ""
    web_turns: int = 0
    requests: int = 0
    """Metered requests that it made in all."""
    seconds: float = 0.0
    left: tuple[str, ...] = ()
    """What it wrote into its own folders; the wall lets it write nothing."""
    changed: tuple[str, ...] = ()
    """Files of the vault that are not as they were before. Somebody else may have written them meanwhile."""
    files: int = 0
    """So many files of the vault were compared."""

    @property
    def line(self) -> str:
        """What belongs into the policy note; `""` where nothing was measured."""
        return f"- requests_per_reach: {self.requests}" if self.answer and self.requests else ""

    @property
    def holds(self) -> bool:
        """Whether it showed what it is for: an answer, a live search, and nothing written."""
        return bool(self.answer and self.web_turns) and not self.left and not self.changed


def run_probe(
    reacher: CodexReacher,
    gate: Gate,
    zone: tzinfo,
    *,
    should_stop: Callable[[], str] = lambda: "",
    clock: Callable[[], datetime] = utc_now,
) -> ProbeResult:
    """One trivial reach: it counts, it is logged, and it needs this machine's confirmation, as any other.

    Whether the policy permits a reach at all is for the caller to ask first. `gate` has the purpose `KIND`.

    Raises:
        BusyError: another process kept the ledger.
        WriteRefusedError: the log of what leaves, or the ledger, cannot be written.
    """
    named = reacher.destination
    if refusal := gate.text_refusal() or reacher.missing():
        return ProbeResult(reason=refusal, destination=named)
    version = reacher.version()
    out = send_authorised(
        gate, reacher.settings, zone, kind=KIND, destination=named, excerpts=(), text=PROMPT,
        begin=lambda _granted: _files_of(reacher.vault), clock=clock,
    )  # fmt: skip
    if isinstance(out, BudgetRefusal | Turned):
        unsent: Resolution | None = "unsent" if isinstance(out, Turned) else None
        return ProbeResult(reason=out.reason, destination=named, version=version, resolution=unsent)
    reach_id, before = out.granted.row.id, out.begun
    watched = reacher.run_watched(out.cleared, out.granted, should_stop=should_stop)
    after = _files_of(reacher.vault)
    run, (_, resolution) = watched.end.run, read_end(watched.end)
    settle(reacher.state, zone, reach_id=reach_id, verdict=resolution, requests=run.requests, clock=clock)
    answer = clean(inert(clean(harmless_text(run.last_message[: 20 * LONGEST_ANSWER]))))[:LONGEST_ANSWER]
    failed = failure_text(run.failure) if run.failure is not None else "" if answer else "the answer was empty"
    reason = watched.end.stopped or failed
    note_backoff(gate, watched.end, failed, clock().astimezone(zone))
    return ProbeResult(
        reason=reason,
        destination=named,
        version=version,
        resolution=resolution,
        answer="" if reason else answer,
        web_turns=run.web_turns,
        requests=run.requests,
        seconds=watched.end.seconds,
        left=watched.left,
        changed=tuple(sorted(name for name in before.keys() | after if before.get(name) != after.get(name))),
        files=len(before),
    )


def _files_of(root: Path) -> dict[str, tuple[int, int]]:
    """Every file below `root`, hidden ones as well, with its size and the time of its last change."""
    found: dict[str, tuple[int, int]] = {}
    for folder, _, names in os.walk(root):
        for name in names:
            place = os.path.join(folder, name)  # noqa: PTH118 - one string for each of many files
            try:
                status = os.lstat(place)
            except OSError:  # gone while we looked
                continue
            found[os.path.relpath(place, root).replace(os.sep, "/")] = (status.st_size, status.st_mtime_ns)
    return found
