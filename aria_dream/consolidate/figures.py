"""Nights in figures: consolidations summed by night, and what became of their proposals. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.consolidate.report import NightFigures

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from aria_dream.consolidate.record import Consolidation
    from aria_dream.review.proposal import ProposalState


def figures_of(past: Sequence[Consolidation], states: Iterable[ProposalState]) -> tuple[NightFigures, ...]:
    """The nights that got as far as a count, oldest first. Several runs of a night are one."""
    by_id = {state.proposal.id: state for state in states}
    nights: dict[date, list[Consolidation]] = {}
    for run in past:
        if run.scan is not None:
            nights.setdefault(run.night, []).append(run)
    return tuple(_figures(night, runs, by_id) for night, runs in sorted(nights.items()))


def _figures(night: date, runs: Sequence[Consolidation], by_id: Mapping[str, ProposalState]) -> NightFigures:
    made = [by_id[id_] for run in runs for id_ in run.proposals if id_ in by_id]
    by_person = [one for one in made if one.approved_by not in ("", "auto") or one.state == "rejected"]
    scans = [run.scan for run in runs if run.scan is not None]
    findings = {mark: one for run in runs for mark, one in run.brought.items() if one.what == "conflict"}
    return NightFigures(
        night=night,
        passages=max(scan.passages for scan in scans),
        new=max(scan.new for scan in scans),
        pairs=max(scan.pairs for scan in scans),
        proposals=sum(len(run.proposals) for run in runs),
        contradictions=max(scan.conflicts for scan in scans),
        resolutions=sum(bool(one.proposals) for one in findings.values()),
        escalated=sum(not one.proposals for one in findings.values()),
        accepted=sum(one.approved_by not in ("", "auto") and one.state != "rejected" for one in made),
        decided=len(by_person),
        applied=sum(one.approved_by == "auto" and one.applies > 0 for one in made),
        tokens=sum(run.tokens for run in runs),
        seconds=round(sum(run.seconds for run in runs)),
        stopped=runs[-1].stop_reason,
    )


def nights_of(past: Iterable[Consolidation]) -> dict[str, tuple[date, int]]:
    """Id of each run to its night, and how many passages its count found that no night had read before."""
    return {run.id: (run.night, 0 if run.scan is None else run.scan.new) for run in past}
