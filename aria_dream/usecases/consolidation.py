"""The data path of a night, in order, as code: find, judge, plan, propose; a record after each item.

It only ever writes proposals, and records of itself. Cut off anywhere, by whatever, it goes on with the same item.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from aria_dream.consolidate.judged import as_conflict_verdict, as_judged
from aria_dream.consolidate.memory import proposals_tonight, remembered_of, tokens_tonight
from aria_dream.consolidate.open_pairs import same_key
from aria_dream.consolidate.passage_difference import difference_of
from aria_dream.consolidate.record import (
    Brought,
    Consolidation,
    End,
    brought_record,
    ended,
    judged_record,
    resumed,
    started,
    triaged,
)
from aria_dream.consolidate.run import left_to_writer, steps, total_questions
from aria_dream.consolidate.verdict import Escalated
from aria_dream.consolidate.work import Collapse, Compare, Limits, Resolve, Retire, Settle, Stop, Triage, Unite
from aria_dream.review.proposal import WRITER, open_count, planned_record
from aria_dream.review.rivals import withheld
from aria_dream.usecases.night_parts import ConsolidationResult
from aria_dream.usecases.reconcile import reconcile
from aria_dream.usecases.unresolved_items import note_answers
from aria_dream.vault.edit import Refusal
from aria_dream.world import permit_all, unheard

MOST_COMPARED = 50
"""Near pairs of which it is told what differs: more than a list shows."""

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from aria_dream.consolidate.judged import Judged
    from aria_dream.consolidate.open_pairs import OpenPair
    from aria_dream.consolidate.record import What
    from aria_dream.consolidate.verdict import Conflict, ConsolidationJudge, PairVerdict
    from aria_dream.consolidate.work import Candidate, Cluster, Remembered, Step
    from aria_dream.review.proposal import ProposalState
    from aria_dream.usecases.night_parts import ConsolidationRequest, Made, NightParts
    from aria_dream.usecases.review_session import ReviewSession
    from aria_dream.world import Progress


def consolidate_once(
    session: ReviewSession,
    parts: NightParts,
    request: ConsolidationRequest,
    *,
    now: Callable[[], datetime],
    permit: Callable[[str], None] = permit_all,
    progress: Progress = unheard,
) -> ConsolidationResult:
    """One consolidation run, from its first record to its last. An expected hindrance is a reason.

    `permit(unit)` is asked before each unit of work and may end the process. Whoever calls holds `consolidation_lock`.

    Raises:
        WriteRefusedError: a record cannot be written; what was written before stays.
        BusyError: another of our processes writes and does not end.
        StateDamagedError: a journal cannot be read.
        MissingPartError: something is to be embedded and the embedder is not there.
    """
    policy = session.vault.live.policy
    if refusal := policy.dream_refusal() or session.vault.in_doubt:
        return ConsolidationResult(run=None, reason=refusal)
    past = session.store.consolidations()
    run, is_resumed = _chosen(past, request)
    if run is None:
        return ConsolidationResult(run=None, reason=_nothing_to_resume(past))
    states = reconcile(session.vault, session.files, session.store, request.at, rehearsal=request.dry_run).states
    waiting, most = open_count(states.values()), policy.settings.max_open_proposals
    if waiting >= most and not request.dry_run:
        return ConsolidationResult(run=None, reason=_full(waiting, most))
    if not request.dry_run:
        note_answers(session)
    consolidation_judge = parts.consolidation_judge()
    if isinstance(consolidation_judge, str):
        if not request.dry_run:
            session.store.note_judge(request.at, "consolidation", parts.trouble)
        return ConsolidationResult(run=None, reason=consolidation_judge)
    open_run = _OpenRun(session, parts, consolidation_judge, run, now, is_rehearsal=request.dry_run)
    run.judge = run.judge or consolidation_judge.name
    open_run.begin(is_resumed=is_resumed)
    try:
        permit("reading")
        work = parts.find(run.parts)
        days = policy.settings.pair_cooldown_days
        seen = remembered_of(past, run, states.values(), work, lapse_days=days, said=session.store.settled())
        limits = _limits(session, parts, past, run, waiting)
        total = total_questions(run, work, seen, consolidation_judge.name)
        for step in steps(run, work, seen, limits, consolidation_judge.name, lambda: consolidation_judge.hindrance):
            permit("judging")
            progress(run.questions_answered, total)
            open_run.carry_out(step)
    except KeyboardInterrupt:
        open_run.append(ended(run, now(), End.INTERRUPTED, "you ended it", run.left))
        return ConsolidationResult(run=run, reason="you ended it", made=tuple(open_run.made), interrupted=True)
    if not request.dry_run:
        session.store.note_judge(request.at, "consolidation", parts.trouble)
        parts.note_analysed(work, lambda key: open_run.verdict(key, seen) is None)
    return ConsolidationResult(
        run=run,
        reason=run.stop_reason,
        made=tuple(open_run.made),
        open_conflicts=tuple(open_run.open_conflicts),
        open_pairs=_with_differences(left_to_writer(run, work, seen, consolidation_judge.name), parts),
        trouble=parts.trouble,
        resumed=is_resumed,
    )


def _with_differences(pairs: Sequence[OpenPair] | None, parts: NightParts) -> tuple[OpenPair, ...] | None:
    """The pairs, the nearest with what differs in them."""
    if pairs is None:
        return None
    texts = [parts.texts(one.pair) for one in pairs[:MOST_COMPARED]]
    seen = [None if two is None else difference_of(two.first.text, two.second.text) for two in texts]
    return (*(replace(one, difference=found) for one, found in zip(pairs, seen, strict=False)), *pairs[len(seen) :])


def _chosen(past: Sequence[Consolidation], request: ConsolidationRequest) -> tuple[Consolidation | None, bool]:
    """The run to go on with or to begin, and whether it is an old one; None where there is none to go on with."""
    wanted: Sequence[Consolidation] = ()
    if request.resume == "last":
        wanted = past[-1:]
    elif request.resume == "night":
        wanted = [run for run in past if run.night == request.night and run.parts == request.parts]
    unended = [run for run in wanted if not run.is_over]
    if unended:
        return unended[-1], True
    if request.resume == "last":
        return None, False
    name = f"night-{request.at:%Y%m%d-%H%M%S}"
    taken = {one.id for one in past}
    number = next(n for n in range(len(past) + 1) if (f"{name}-{n}" if n else name) not in taken)
    new = Consolidation(
        id=f"{name}-{number}" if number else name, at=request.at, night=request.night, parts=request.parts, judge=""
    )
    return new, False


def _nothing_to_resume(past: Sequence[Consolidation]) -> str:
    if not past:
        return "there is nothing to go on with: no night was run on this machine yet"
    return "there is nothing to go on with: the last night came to its end"


def _full(waiting: int, most: int) -> str:
    return (
        f"{waiting} proposals wait for you, and no more are made while there are {most} or more; "
        "decide some of them with `aria-dream review`, or tick them in the review note"
    )


def _limits(
    session: ReviewSession, parts: NightParts, past: Sequence[Consolidation], run: Consolidation, waiting: int
) -> Limits:
    settings = session.vault.live.policy.settings
    return Limits(
        proposals=settings.max_proposals_per_night - proposals_tonight(past, run),
        room=settings.max_open_proposals - waiting,
        tokens=settings.token_budget_per_night - tokens_tonight(past, run),
        is_metered=parts.is_metered,
        most_proposals=settings.max_proposals_per_night,
        most_open=settings.max_open_proposals,
        most_tokens=settings.token_budget_per_night,
    )


class _OpenRun:
    """Carries steps out, each with its record; private to `consolidate_once`."""

    def __init__(
        self,
        session: ReviewSession,
        parts: NightParts,
        consolidation_judge: ConsolidationJudge,
        run: Consolidation,
        now: Callable[[], datetime],
        *,
        is_rehearsal: bool,
    ) -> None:
        self._session = session
        self._parts = parts
        self._consolidation_judge = consolidation_judge
        self._run = run
        self._now = now
        self._is_rehearsal = is_rehearsal
        self.made: list[Made] = []
        self.open_conflicts: list[Conflict] = []

    def begin(self, *, is_resumed: bool) -> None:
        """The first record of the run, or of its resumption."""
        if is_resumed:
            self.append(resumed(self._run, self._now()))
        elif not self._is_rehearsal:
            self._session.store.note_run(started(self._run))

    def append(self, record: Mapping[str, object]) -> None:
        """Journals a record, which the run takes then; of a rehearsal only the run knows."""
        if not self._is_rehearsal:
            self._session.store.note_run(record)
        self._run.take(record)

    def verdict(self, key: str, seen: Remembered) -> Judged | None:
        """What is known about a pair, by this run or an earlier one."""
        return self._run.judged.get(key) or seen.judged.get(key)

    def carry_out(self, step: Step) -> None:
        """Does one step and records it."""
        match step:
            case Triage(scan=scan):
                self.append(triaged(self._run, self._now(), scan))
            case Compare(pair=pair):
                before = self._consolidation_judge.tokens
                judged = as_judged(pair.key, self._compare(pair), self._consolidation_judge.name)
                spent = self._consolidation_judge.tokens - before
                self.append(judged_record(self._run, self._now(), "pair", judged, tokens=spent))
            case Resolve(conflict=conflict, key=key):
                before = self._consolidation_judge.tokens
                answer = self._consolidation_judge.resolve(conflict, self._parts.evidence(conflict))
                judged = as_judged(key, answer, self._consolidation_judge.name)
                spent = self._consolidation_judge.tokens - before
                self.append(judged_record(self._run, self._now(), "conflict", judged, tokens=spent))
            case Collapse(mark=mark, clusters=clusters):
                self._bring("cluster", mark, lambda states: self._parts.collapse(clusters, states),
                            [member.id for member in step.members], asked_for(clusters),
                            [said for cluster in clusters for said in cluster.dissent])  # fmt: skip
            case Settle(conflict=conflict, judged=judged, key=key):
                verdict = as_conflict_verdict(judged)
                is_proposed = self._bring(
                    "conflict", key, lambda states: self._parts.settle(conflict, verdict, states),
                    [conflict.first.id, conflict.second.id],
                )  # fmt: skip
                if not is_proposed:
                    self.open_conflicts.append(conflict)
            case Retire(mark=mark):
                self._bring("stale", mark, lambda states: self._parts.retire(mark, states), [])
            case Unite(mark=mark):
                self._bring("copy", mark, lambda states: self._parts.unite(mark, states), [])
            case Stop(end=end, reason=reason, left=left):
                self.append(ended(self._run, self._now(), end, reason, left))
            case _:
                assert_never(step)

    def _compare(self, pair: Candidate) -> PairVerdict:
        known = self._parts.foregone(pair)
        if known is not None:
            return known
        texts = self._parts.texts(pair)
        if texts is None:
            return Escalated(reason="one of the two has changed since the night began")
        return self._consolidation_judge.compare(texts)

    def _bring(
        self,
        what: What,
        mark: str,
        make: Callable[[Mapping[str, ProposalState]], Made | Refusal],
        passages: Sequence[str],
        asked_for: Sequence[str] = (),
        dissent: Sequence[str] = (),
    ) -> bool:
        """Proposes a finding, or records why not; whether there is a proposal now.

        A proposal that a crash left without its plan, or without the record of this step, is found by its mark.
        """
        states = self._session.store.read().states
        earlier = next((one for one in states.values() if is_about(one, mark) and one.is_open), None)
        if earlier is not None and earlier.edits:
            self._record(what, mark, earlier.proposal.id, "")
            return True
        made = make({id_: one for id_, one in states.items() if one is not earlier})
        if not isinstance(made, Refusal):
            made = withheld(made[0], (one for one in states.values() if one is not earlier)) or made
        if isinstance(made, Refusal):
            self._record(what, mark, "", made.reason)
            return False
        proposal, edits = made
        proposal = replace(
            proposal,
            episode=self._run.id,
            extra={
                **proposal.extra,
                "finding": mark,
                "atoms": list(passages),
                **({"asked_for": list(asked_for)} if asked_for else {}),
                **({"dissent": list(dissent)} if dissent else {}),
            },
        )
        if not self._is_rehearsal:
            if earlier is None:
                self._session.store.propose([proposal])
            id_ = proposal.id if earlier is None else earlier.proposal.id
            self._session.store.note(planned_record(id_, edits, self._now()))
        self.made.append((proposal, edits))
        self._record(what, mark, proposal.id if earlier is None else earlier.proposal.id, "")
        return True

    def _record(self, what: What, mark: str, id_: str, reason: str) -> None:
        brought = Brought(finding=mark, what=what, proposals=(id_,) if id_ else (), reason=reason)
        self.append(brought_record(self._run, self._now(), brought))


def asked_for(clusters: Sequence[Cluster]) -> tuple[str, ...]:
    """Keys by which the writer called pairs of these the same."""
    return tuple(same_key(pair) for cluster in clusters for pair, judged in cluster.pairs if judged.judge == WRITER)


def is_about(state: ProposalState, mark: str) -> bool:
    """Whether the proposal came of that finding."""
    return state.proposal.extra.get("finding") == mark
