"""Which judge it is: the one that `triage_backend` names, if it is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.adapters.gate.egress import Gate, Turned
from aria_dream.adapters.index.live_policy import read_prompt
from aria_dream.adapters.models.asking import Asking, AskingBudget, display_name
from aria_dream.adapters.models.model_http import is_listening
from aria_dream.adapters.models.model_judge import ModelJudge
from aria_dream.adapters.models.model_server import NoModel, asking_patience, looking_patience
from aria_dream.adapters.models.ollama import OllamaServer, at_root
from aria_dream.adapters.models.openai_server import OpenAIServer, with_version
from aria_dream.adapters.models.verdict_cache import VerdictCache, verdict_kind
from aria_dream.judging.dreaming import NoJudge
from aria_dream.judging.triage_prompt import PROMPT_NAME, Keep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date
    from pathlib import Path

    from aria_dream.adapters.index.cache_store import ContentCache
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.models.model_judge import JudgeReport
    from aria_dream.adapters.models.model_server import Model
    from aria_dream.judging.dreaming import Judge
    from aria_dream.policy.settings import Settings
    from aria_dream.ranking.juxtaposition import Juxtaposition

NOBODY = "no judge"


@dataclass(frozen=True, slots=True)
class Unjudged:
    """`triage_backend: off`: what resonates is shown as the ranking has it."""

    @property
    def name(self) -> str:
        """As the log names it."""
        return NOBODY

    def judge(self, found: Sequence[Juxtaposition]) -> Sequence[Keep]:
        """Every pair kept, with the ranking's own probability and its strongest sign."""
        return [Keep(one.score, _sign(one)) for one in found]


def _sign(found: Juxtaposition) -> str:
    strongest = next((term for term in found.evidence if term.value > 0), None)
    if strongest is None:
        return "nobody judged it"
    return f"nobody judged it; strongest sign: {strongest.name}{f' ({strongest.detail})' if strongest.detail else ''}"


@dataclass(frozen=True, slots=True)
class Available:
    """A server that answers, and the model on it that the policy names."""

    server: OllamaServer | OpenAIServer
    model: Model


def open_judge(
    vault: DreamtVault,
    cache: ContentCache,
    state: Path,
    *,
    today: date,
    embedded: Callable[[], Judge],
    problems: list[str],
    report: JudgeReport,
    backend: str | None = None,
    is_measured: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Judge | NoJudge:
    """The judge of one dream, or why there is none. `embedded` makes the built-in one; `problems` gets what to tell of
    the prompt, `report` what becomes of the asking.

    Where Ollama is missing under `auto`, it is the built-in judge; a backend that was named must be there when the
    dream begins. A model that fails later, or has used up the dream's budget, is followed by the built-in judge either
    way; where it is to be measured it has no budget, and nobody judges for it. `backend` overrides the policy's. A
    model reports `progress(done, total)` pair by pair.
    """
    settings = vault.live.policy.settings
    chosen = backend or settings.triage_backend
    if chosen == "embedded":
        return embedded()
    if chosen == "off":
        return Unjudged()
    gate = Gate(
        state=state, sharing=vault.sharing, purpose="triage", allowed=settings.allow_remote_triage
    )
    found = find_model_server(settings, gate, chosen)
    if isinstance(found, NoModel):
        if chosen != "auto":
            report.trouble = f"`triage_backend: {chosen}`: {found.reason}"
            return NoJudge(report.trouble)
        if found.is_running:
            report.trouble = f"{found.reason}; the built-in judge sat instead"
        return embedded()
    prompt = read_prompt(PROMPT_NAME, vault.root, vault.names, vault.home)
    problems.extend(str(problem) for problem in prompt.problems)
    visible = {fact.content_hash for fact in vault.facts}
    verdicts = VerdictCache(
        cache=cache,
        kind=verdict_kind(prompt.prompt.hash, found.model.name, found.model.digest),
        visible=visible,
        today=today,
        lasting=bool(found.model.digest),
    )
    verdicts.prune()
    return ModelJudge(
        vault=vault,
        model=found.model,
        prompt=prompt.prompt,
        gate=gate,
        verdicts=verdicts,
        asking=Asking(
            server=found.server,
            name=display_name(found.model),
            budget=AskingBudget(owner="a dream") if is_measured else AskingBudget(
                owner="a dream", time_s=settings.triage_budget_s, questions=settings.triage_questions_per_dream
            ),
        ),
        report=report,
        fallback=None if is_measured else embedded,
        progress=progress,
    )


def find_model_server(settings: Settings, gate: Gate, backend: str) -> Available | NoModel:
    """The language model that `backend` means; `auto`, and what names no server, means Ollama's."""
    return SERVERS.get(backend, _ollama)(settings, gate)


def _ollama(settings: Settings, gate: Gate) -> Available | NoModel:
    endpoint = gate.admit(settings.ollama_url) if settings.ollama_url else Turned("`ollama_url` is empty")
    if isinstance(endpoint, Turned):
        return NoModel(f"Ollama is not asked: {endpoint.reason}", is_running=True)
    timeout_s = float(settings.ollama_timeout_s)
    # A connection within this machine is made at once or not at all; some systems try a closed port for seconds.
    if endpoint.is_loopback and not is_listening(endpoint, min(timeout_s, 1.0)):
        return NoModel(f"Ollama does not answer at {endpoint}", is_running=False)
    server = OllamaServer(
        endpoint=at_root(endpoint), looking=looking_patience(timeout_s), asking=asking_patience(timeout_s)
    )
    model = server.find_model(settings.triage_model)
    return model if isinstance(model, NoModel) else Available(server, model)


def _openai(settings: Settings, gate: Gate) -> Available | NoModel:
    endpoint = gate.admit(settings.triage_url) if settings.triage_url else Turned("`triage_url` is empty")
    if isinstance(endpoint, Turned):
        return NoModel(f"the server is not asked: {endpoint.reason}", is_running=True)
    timeout_s = float(settings.ollama_timeout_s)
    server = OpenAIServer(
        endpoint=with_version(endpoint), looking=looking_patience(timeout_s), asking=asking_patience(timeout_s)
    )
    model = server.find_model(settings.triage_model)
    return model if isinstance(model, NoModel) else Available(server, model)


SERVERS: dict[str, Callable[[Settings, Gate], Available | NoModel]] = {"ollama": _ollama, "openai": _openai}
"""How each server of `policy.keys.MODEL_SERVERS` is found."""
