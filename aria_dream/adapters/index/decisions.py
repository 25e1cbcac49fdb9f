"""What the writer's decisions teach the embedded judge: the pairs they linked or refused, as the judge saw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.judging.judge import pair_features
from aria_dream.ranking.juxtaposition import log_odds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.judging.judge import PairFeatures
    from aria_dream.review.proposal import ProposalState, State

_ANSWERS: Final[dict[State, bool]] = {"approved": True, "applied": True, "rejected": False, "rolled_back": False}
_UNKNOWN: Final = (np.nan, np.nan, np.nan, np.nan)
"""Nearness, passages, kinship and analogy were not kept with the proposal; the judge takes them for average."""


def decided_pairs_seen(vault: DreamtVault, states: Iterable[ProposalState]) -> tuple[tuple[PairFeatures, bool], ...]:
    """Features and answer of each decided link whose two notes may be dreamt, in the order of the journal.

    Score and terms are those of the dream that showed the pair: the writer's answer was about them, and a link that
    was placed since would speak for itself. What passed without a tick says nothing about the writer, and a proposal
    without its terms (taken over from another machine's dream note) teaches nothing.
    """
    known = ((state, _ANSWERS[state.state]) for state in states if state.state in _ANSWERS)
    found = ((_features(vault, state), answer) for state, answer in known if state.approved_by != "auto" or not answer)
    return tuple((features, answer) for features, answer in found if features is not None)


def _features(vault: DreamtVault, state: ProposalState) -> PairFeatures | None:
    proposal = state.proposal
    terms = {name: float(value) for name, value in proposal.evidence.items() if isinstance(value, int | float)}
    if proposal.kind != "link" or len(state.paths) != 2 or proposal.score is None or not terms:
        return None
    rows = [vault.row(path) for path in state.paths]
    first, second = rows
    if first is None or second is None:
        return None
    folders = {path.rpartition("/")[0] for path in state.paths}
    folder = next(iter(folders))
    beside = sum(fact.path.rpartition("/")[0] == folder for fact in vault.facts) if len(folders) == 1 else 0
    return pair_features(
        log_odds(proposal.score),
        terms,
        _UNKNOWN,
        words=(vault.facts[first].words, vault.facts[second].words),
        folder_notes=beside,
    )
