"""What the embedded judge asks of a vault: the writer's decisions as it saw them, and what a consolidation looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.consolidate.near import LEAST_OVERLAP, NearRow, is_near, overlap_of, sketch_of
from aria_dream.consolidate.passages import is_named_template, passages_of_note
from aria_dream.judging.worth import features_kept
from aria_dream.markdown.note import parse_note

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.consolidate.near import Sketch
    from aria_dream.review.proposal import ProposalState, State

_ANSWERS: Final[dict[State, bool]] = {"approved": True, "applied": True, "rejected": False, "rolled_back": False}


def decided_pairs_seen(
    vault: DreamtVault, states: Iterable[ProposalState]
) -> tuple[tuple[tuple[float, ...], bool], ...]:
    """Features and answer of each decided link whose two notes may be dreamt, in the order of the journal.

    Score and terms are those of the dream that showed the pair: the writer's answer was about them, and a link that
    was placed since would speak for itself. What passed without a tick says nothing about the writer, and a proposal
    without its terms (taken over from another machine's dream note) teaches nothing.
    """
    known = ((state, _ANSWERS[state.state]) for state in states if state.state in _ANSWERS)
    found = ((_features(vault, state), answer) for state, answer in known if state.approved_by != "auto" or not answer)
    return tuple((features, answer) for features, answer in found if features is not None)


def _features(vault: DreamtVault, state: ProposalState) -> tuple[float, ...] | None:
    proposal = state.proposal
    terms = {name: float(value) for name, value in proposal.evidence.items() if isinstance(value, int | float)}
    if proposal.kind != "link" or len(state.paths) != 2 or proposal.score is None or not terms:
        return None
    if any(vault.row(path) is None for path in state.paths):
        return None
    return features_kept(terms, proposal.score)


def is_merged(vault: DreamtVault, rows: tuple[int, int], cosine: float | None) -> bool:
    """Whether a consolidation lists the two notes as near each other, by the signals that it goes by itself.

    `cosine`: of the two notes' vectors; None where it is not known.
    """
    first, second = (_sketch(vault, row) for row in rows)
    if not len(first) or not len(second):
        return False
    row = NearRow(0, 1, cosine or 0.0, overlap_of(first, second))
    return is_near(row, vault.live.policy.settings.cosine_threshold, LEAST_OVERLAP)


def _sketch(vault: DreamtVault, row: int) -> Sketch:
    """The words of the whole note as a consolidation sees them; empty where it leaves the note alone."""
    note = vault.notes[row]
    apart = note.daily or note.template or note.index or note.plugin or is_named_template(note.path)
    passages = passages_of_note(note.path, parse_note(read_note_text(vault, row)), set_apart=apart)
    return sketch_of(passages[0].words if passages and passages[0].is_note else "")
