"""A judge over a labelled corpus: all its notes are laid out as one small vault and every pair is put before the judge.

So each judge sees what it would see in a dream: the embedded one calibrates itself on that vault (whose notes are
hardly linked, so its prior carries most of the weight) and is given the pairs with the ranking's own score and
evidence; a language model reads the two notes. Pairs that the corpus's own texts link are no candidates of a dream and
are left out, for every judge alike. The vault and its caches are temporary, so no verdict of an earlier run is found
again.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.judging.dreaming import NoJudge
from aria_dream.ranking.walk import Memory
from aria_dream.usecases.dream_run import open_dream_parts
from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.evals.triage_score import CorpusNote, LabelledPair
    from aria_dream.judging.triage_prompt import Verdict
    from aria_dream.policy.settings import Settings

JUDGE_KEYS = (
    "triage_backend", "triage_model", "ollama_url", "ollama_timeout_s", "triage_url", "allow_remote_triage",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TriageRun:
    """One pass of a judge over the corpus."""

    judge: str
    """As a dream's log would name it."""
    pairs: tuple[LabelledPair, ...]
    """Those that were judged."""
    verdicts: tuple[Verdict, ...]
    seconds: tuple[float, ...]
    """Of each verdict."""
    said: tuple[str, ...]
    """What the judge had to do without."""


def run_triage(
    pairs: Sequence[LabelledPair],
    settings: Settings,
    state: Path,
    *,
    backend: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TriageRun | NoJudge:
    """The verdicts of the judge that `settings` (or `backend`) name; or why it cannot sit. Leaves nothing behind.

    `state` is the account's state folder: a judge on another machine needs its confirmation, and is logged there.
    """
    with tempfile.TemporaryDirectory(prefix="aria-dream-eval-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "corpus"
        placed = _lay_out(root, pairs)
        places = Places(state=state, cache=Path(folder) / "cache")
        vault = _with_judge(read_dreamt_vault(root, places, environ={}), settings)
        with open_dream_parts(vault, places) as parts:
            parts.backend, parts.is_measured = backend, True
            ranker = parts.ranker(Memory())
            judge = parts.judge()
            if isinstance(judge, NoJudge):
                return judge
            every = len(vault.facts)
            sources = {placed[pair.a] for pair in pairs}
            candidates = {(one.from_, one.to) for source in sources for one in ranker.resonances(source, every)}
            asked = [pair for pair in pairs if (placed[pair.a], placed[pair.b]) in candidates]
            verdicts: list[Verdict] = []
            seconds: list[float] = []
            for pair in asked:
                began = time.perf_counter()
                verdicts.extend(judge.judge([ranker.pair(placed[pair.a], placed[pair.b])]))
                seconds.append(time.perf_counter() - began)
                if progress is not None:
                    progress(len(verdicts), len(asked))
            return TriageRun(
                judge=judge.name, pairs=tuple(asked), verdicts=tuple(verdicts), seconds=tuple(seconds),
                said=tuple(filter(None, (*parts.problems, parts.report.trouble))),
            )  # fmt: skip


def _with_judge(vault: DreamtVault, settings: Settings) -> DreamtVault:
    """`vault` under the judge's part of `settings`."""
    policy = vault.live.policy
    mine = replace(policy.settings, **{key: getattr(settings, key) for key in JUDGE_KEYS})
    return replace(vault, live=replace(vault.live, policy=replace(policy, settings=mine)))


def _lay_out(root: Path, pairs: Sequence[LabelledPair]) -> dict[CorpusNote, str]:
    """The vault path of each note; two that bear one path get different ones."""
    placed: dict[CorpusNote, str] = {}
    taken: set[str] = set()
    for note in (side for pair in pairs for side in (pair.a, pair.b)):
        if note in placed:
            continue
        path, number = PurePosixPath(note.path), 1
        while fold_path(str(path)) in taken:
            number += 1
            path = PurePosixPath(note.path).with_stem(f"{PurePosixPath(note.path).stem} {number}")
        placed[note] = str(path)
        taken.add(fold_path(str(path)))
        target = root.joinpath(*path.parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(note.text, encoding="utf-8", newline="")
    return placed
