"""`aria-dream eval reach --live`: the corpus asked through the account's own Codex, within its budget."""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING

from aria_dream.adapters.codex.codex_reacher import CodexReacher
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.gate.egress import Gate
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.cli.output import counted, progress_bar
from aria_dream.errors import PolicyClosedError
from aria_dream.evals.reach_corpus import AnsweringModel
from aria_dream.policy.policy import parse_policy
from aria_dream.policy.settings import local_now
from aria_dream.privacy.sharing import survey
from aria_dream.usecases.eval_reach import LiveAsker, Unasked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from aria_dream.evals.reach_corpus import ReachItem, RecordedAnswer
    from aria_dream.policy.policy import Policy


def ask_live(
    items: Sequence[ReachItem],
    models: dict[str, AnsweringModel],
    recorded: Sequence[RecordedAnswer],
    vault: Path | None,
    said: list[str],
    *,
    rank: int,
    keep: Callable[[Sequence[RecordedAnswer]], None],
) -> list[RecordedAnswer]:
    """New answers of the policy's model to what it has not answered yet, until something stops it, which `said` tells.

    `models` gets the model, and `keep` all new answers after each. An answer costs what a reach costs, so a budget of
    two lasts for two, and a later run goes on from there.

    Raises:
        PolicyClosedError: the policy permits no reach.
    """
    places = find_places()
    policy = _policy(vault)
    if refusal := policy.reach_refusal():
        raise PolicyClosedError(f"nobody was asked: {refusal}")
    settings = policy.settings
    name = f"{settings.reach_model}-{settings.reach_effort}"
    known = models.get(name)
    models[name] = known or AnsweringModel(name=name, rank=rank, made="recorded", about="Asked live, by Codex CLI.")
    sharing, _ = survey((), policy)
    zone = local_now(datetime.now().astimezone(), settings.timezone).tzinfo
    assert zone is not None
    state = places.state
    live = LiveAsker(
        asker=CodexReacher(vault=vault or state, state=state, settings=settings),
        gate=Gate(state=state, sharing=sharing, purpose="eval"), sharing=sharing, settings=settings, state=state,
        zone=zone, model=name,
    )  # fmt: skip
    answered = {answer.item for answer in recorded if answer.model == name}
    wanted = [item for item in items if item.id not in answered]
    found: list[RecordedAnswer] = []
    with progress_bar(f"Asking {name}") as progress:
        for item in wanted:
            answer = live.answer(item)
            if isinstance(answer, Unasked):
                left = counted(len(wanted) - len(found), "request")
                said.append(f"{name} was asked {len(found)} of {len(wanted)}, and {left} wait: {answer.reason}")
                break
            found.append(answer)
            keep(found)
            if progress is not None:
                progress(len(found), len(wanted))
    return found


def _policy(vault: Path | None) -> Policy:
    if vault is not None:
        return read_live_policy(vault.expanduser().absolute(), find_places()).policy
    return parse_policy(None, env=os.environ)[0]
