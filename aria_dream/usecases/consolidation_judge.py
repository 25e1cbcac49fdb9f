"""Who judges in a consolidation: the built-in judge, or the language model that `triage_backend` names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from aria_dream.adapters.gate.egress import Gate
from aria_dream.adapters.index.live_policy import read_prompt
from aria_dream.adapters.models.asking import Asking, AskingBudget, display_name
from aria_dream.adapters.models.judges import find_model_server
from aria_dream.adapters.models.model_consolidation_judge import ModelConsolidationJudge
from aria_dream.adapters.models.model_server import NoModel
from aria_dream.adapters.models.verdict_cache import ConsolidationVerdictCache, VerdictCache, verdict_kind
from aria_dream.consolidate.questions import ANSWER_TOKENS, CONTRADICTIONS_PROMPT, DUPLICATES_PROMPT, RECIPE
from aria_dream.consolidate.verdict import Escalated

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date
    from pathlib import Path

    from aria_dream.adapters.index.cache_store import ContentCache
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.models.model_judge import JudgeReport
    from aria_dream.consolidate.verdict import Conflict, ConflictVerdict, ConsolidationJudge, NearPair, PairVerdict
    from aria_dream.judging.prompt_text import Prompt

EMBEDDED_NAME: Final = "embedded judge"
PURPOSE: Final = "consolidation"


@dataclass(frozen=True, slots=True)
class NoConsolidationJudge:
    """Nobody judges."""

    reason: str
    """One sentence without its full stop."""


@dataclass(frozen=True, slots=True)
class BuiltInConsolidationJudge:
    """The built-in judge: it decides what is nearly verbatim, and never which of two claims holds."""

    compare_pair: Callable[[NearPair], PairVerdict]

    @property
    def name(self) -> str:
        """As report and journal name it."""
        return EMBEDDED_NAME

    @property
    def tokens(self) -> int:
        """Always 0."""
        return 0

    @property
    def hindrance(self) -> str:
        """Always `""`."""
        return ""

    def compare(self, pair: NearPair) -> PairVerdict:
        """Whether the two say the same, where that is beyond doubt; else `Escalated`."""
        return self.compare_pair(pair)

    def resolve(self, conflict: Conflict, evidence: str) -> ConflictVerdict:  # noqa: ARG002  # it never looks
        """`Escalated`, always."""
        return Escalated(reason="no language model is set up, so which claim holds is for you to say")


def open_consolidation_judge(
    vault: DreamtVault,
    cache: ContentCache,
    state: Path,
    *,
    today: date,
    compare: Callable[[NearPair], PairVerdict],
    problems: list[str],
    report: JudgeReport,
    backend: str | None = None,
) -> ConsolidationJudge | NoConsolidationJudge:
    """Who judges one consolidation, as `triage_backend` says; or why nobody does. `compare` is the built-in judge.

    `auto` never fails: where Ollama is missing, fails, or has used up the night's time, the built-in judge judges. A
    backend that was named does not give way to another one: the night stops, and the next one goes on. `backend`
    overrides the policy's; `problems` gets what to tell of the prompts, `report` what becomes of the asking.
    """
    settings = vault.live.policy.settings
    chosen = backend or settings.triage_backend
    if chosen == "off":
        return NoConsolidationJudge("`triage_backend: off`: nobody judges, so nothing is compared")
    if chosen == "embedded":
        return BuiltInConsolidationJudge(compare)
    gate = Gate(state=state, sharing=vault.sharing, purpose=PURPOSE, allowed=settings.allow_remote_triage)
    found = find_model_server(settings, gate, chosen)
    if isinstance(found, NoModel):
        if chosen != "auto":
            report.trouble = f"`triage_backend: {chosen}`: {found.reason}"
            return NoConsolidationJudge(report.trouble)
        if found.is_running:
            report.trouble = f"{found.reason}; the built-in judge sat instead"
        return BuiltInConsolidationJudge(compare)

    def question(name: str) -> tuple[Prompt, ConsolidationVerdictCache]:
        read = read_prompt(name, vault.root, vault.names, vault.home)
        problems.extend(str(problem) for problem in read.problems)
        kind = verdict_kind(f"consolidate\0{RECIPE}\0{name}\0{read.prompt.hash}", found.model.name, found.model.digest)
        visible = {fact.content_hash for fact in vault.facts}
        verdicts = VerdictCache(
            cache=cache, kind=kind, visible=visible, today=today, lasting=bool(found.model.digest)
        )
        verdicts.prune()
        return read.prompt, ConsolidationVerdictCache(verdicts)

    pair_question, pair_verdicts = question(DUPLICATES_PROMPT)
    conflict_question, conflict_verdicts = question(CONTRADICTIONS_PROMPT)
    return ModelConsolidationJudge(
        vault=vault,
        model=found.model,
        asking=Asking(
            server=replace(found.server, answer_tokens=ANSWER_TOKENS),
            name=display_name(found.model),
            budget=AskingBudget(owner="a night", time_s=settings.time_budget_per_night_s),
        ),
        report=report,
        pair_question=pair_question,
        conflict_question=conflict_question,
        gate=gate,
        pair_verdicts=pair_verdicts,
        conflict_verdicts=conflict_verdicts,
        fallback=BuiltInConsolidationJudge(compare) if chosen == "auto" else None,
    )
