"""Which proposals exclude each other: once the one is done, the other is about notes that are not what they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aria_dream.vault.edit import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from aria_dream.review.proposal import Kind, Proposal, ProposalState

_FIRST: Final[Mapping[Kind, int]] = {
    "sync_copy": 0, "resolve_contradiction": 1, "link": 2, "update": 3, "merge": 4, "obsolete": 5, "place_orphan": 6
}  # fmt: skip
"""Of two that exclude each other the one that leaves more to decide goes first: a note is whole before anything is
decided of it, and a contradiction is settled before its notes become one."""


def exclude_each_other(first: tuple[Kind, Sequence[str]], second: tuple[Kind, Sequence[str]]) -> bool:
    """Whether only one of two changes, each a kind and its notes, may wait or be done at a time.

    Two about one pair of notes always do. Where they share a single note, links hinder nobody, two contradictions of
    one note are two sentences, and a passage of the note that a merge keeps may change beside the merge.
    """
    (kind, paths), (other, others) = first, second
    shared = len(set(paths) & set(others))
    if "link" in (kind, other) or kind == other == "resolve_contradiction":
        return shared >= 2
    if {kind, other} == {"merge", "update"}:
        keeps = (paths if kind == "merge" else others)[0]
        return shared >= 2 or (shared == 1 and not (keeps in paths and keeps in others))
    return shared >= 1


def withheld(proposal: Proposal, states: Iterable[ProposalState]) -> Refusal | None:
    """Why a new proposal is not made while one of `states` is open: one pair of notes has one. None where it may be."""
    wanted = proposal.kind, proposal.paths
    for one in states:
        if one.is_open and exclude_each_other(wanted, (one.proposal.kind, one.paths)):
            return Refusal(f"another proposal about the same notes waits for you ({one.proposal.id})")
    return None


def is_rival(state: ProposalState, other: ProposalState) -> bool:
    """`exclude_each_other` of two proposals; none is its own rival."""
    if state.proposal.id == other.proposal.id:
        return False
    return exclude_each_other((state.proposal.kind, state.paths), (other.proposal.kind, other.paths))


def in_order(
    approved: Iterable[ProposalState], *, done: Callable[[ProposalState], bool] = lambda _state: False
) -> tuple[list[ProposalState], list[tuple[ProposalState, ProposalState]]]:
    """`(possible, excluded)` of what was approved together: what can be done one after the other, in the order given,
    and each of the rest with the one that excludes it. What is `done` already, and only not journalled, is possible."""
    given = list(approved)
    kept: list[ProposalState] = []
    excluded: list[tuple[ProposalState, ProposalState]] = []
    for state in sorted(given, key=lambda one: (one.by == "auto", _FIRST[one.proposal.kind])):
        rival = None if done(state) else next((other for other in kept if is_rival(state, other)), None)
        if rival is None:
            kept.append(state)
        else:
            excluded.append((state, rival))
    return [state for state in given if state in kept], excluded
