"""The data path of a reach, in order, as code: choose, ask for consent, count, ask, read, remember, write.

The order of the gates: policy, confirmation of this machine, memo, budget, a row in the ledger, and only then the call.
What has come back is kept before anything is done with it, so that a crash after the call costs no second one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from aria_dream.adapters.codex.reach_asks import note_names, seed_home
from aria_dream.adapters.gate.authorised_send import note_backoff, send_authorised
from aria_dream.adapters.gate.egress import Turned
from aria_dream.adapters.gate.ledger import settle
from aria_dream.policy.file_layout import choose_log
from aria_dream.reach.answer_cache import cached_answer
from aria_dream.reach.budget import BudgetRefusal
from aria_dream.reach.reach import Answer, excerpts_of
from aria_dream.reach.reach_block import NoAnswer, ReachBlock
from aria_dream.reach.reach_record import BROKEN_OFF, ReachRecord, failure_text, find_unfinished, read_end
from aria_dream.reach.source_grammar import without_notes
from aria_dream.usecases.reach_choice import Chosen, choose_dream, choose_pair, choose_seed
from aria_dream.usecases.reach_course import (
    Course,
    Means,
    Reacher,
    ReachRequest,
    ReachResult,
    blanked_in,
    budget_line,
    budget_refusal,
    paused,
    prompt_for,
    refused_text,
    unconfirmed,
)
from aria_dream.usecases.reach_landing import Landed, Waits, land, propose_reached, said_before

if TYPE_CHECKING:
    from aria_dream.adapters.codex.reach_asks import Question
    from aria_dream.adapters.gate.ledger import Granted
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.reach.budget import Resolution
    from aria_dream.reach.reach_events import ReachEnd

__all__ = ["Means", "ReachRequest", "ReachResult", "Reacher", "reach_once"]


def reach_once(request: ReachRequest, means: Means) -> ReachResult:
    """One reach, or why none was made. An expected hindrance is a reason, not an error.

    What an earlier run left behind between its call and its block is finished first.

    An answer whose block no dream note takes now waits in the journal; that holds no other reach back.

    Raises:
        WriteRefusedError: what leaves cannot be logged (then nothing left), or the state folder cannot be written.
        BusyError: another reach of this vault is under way.
        StateDamagedError: memo or journals cannot be read.
    """
    with means.store.alone().held():
        course = Course(request, means, means.look())
        policy = course.vault.live.policy
        if refusal := policy.reach_refusal() or course.vault.sharing.closed:
            return course.ended(refusal)
        if not request.dry_run:
            _finish_earlier(course)
        if request.kind == "external" and (chosen := _seed_of(course.vault, means)).question is None:
            course.said += chosen.said
            return course.ended(chosen.reason)
        if request.dry_run:
            return _rehearse(course)
        if refusal := unconfirmed(course) or paused(course):
            return course.ended(refusal)
        return _asked(course)


def _choose(course: Course) -> Chosen:
    """The question. Where dreaming took a while the vault is read again: what leaves is as private as it is by then."""
    request, means = course.request, course.means
    if request.kind == "external":
        chosen = _seed_of(course.vault, means)
    else:
        answer_cache, problems = means.store.answer_cache()
        course.said += [f"To mend: reach-memo.tsv: {problem}." for problem in problems]
        records = means.records.read()
        again = choose_dream(records.episodes, request.at, request.start)
        result = means.dream(course.vault, again.request)
        course.vault = means.look()
        chosen = choose_pair(course.vault, means.files, records, answer_cache, again, result)
    course.said += chosen.said
    return chosen


def _seed_of(vault: DreamtVault, means: Means) -> Chosen:
    """A seed whose answer waits for a note that takes its block is still open there, and answered all the same."""
    waiting = find_unfinished(means.store.reaches()[0])
    answered = {reach.seed for reach in waiting if reach.seed is not None and isinstance(reach.block.outcome, Answer)}
    return choose_seed(vault, means.files, answered=answered)


def has_seed(vault: DreamtVault, means: Means) -> bool:
    """Whether a seed waits to be reached on."""
    return _seed_of(vault, means).question is not None


def _rehearse(course: Course) -> ReachResult:
    chosen = _choose(course)
    question = chosen.question
    if question is None:
        return course.ended(chosen.reason)
    missing, refused = course.means.reacher.missing(), budget_refusal(course)
    course.said += [f"A reach would be refused now: {said}." for said in (paused(course), refused) if said]
    course.said += [f"It could not be asked yet: {missing}."] if missing else []
    course.said += [] if not (closed := course.gate().text_refusal()) else [f"Before the first reach: {closed}."]
    prompt = course.gate().show_text(excerpts_of(question.ask), lambda: prompt_for(course, question))
    return course.result(subject=question.name, prompt=prompt, blanked=blanked_in(question), question=question)


def _asked(course: Course) -> ReachResult:
    means, request = course.means, course.request
    chosen = _choose(course)
    question = chosen.question
    if question is None:
        return course.ended(chosen.reason)
    if refusal := budget_refusal(course):
        return course.ended(f"no reach: {refusal}")
    if means.policy_now() != course.vault.live.policy:
        return course.ended("no reach: the policy was changed meanwhile; try again")
    if missing := means.reacher.missing():
        return _landed(course, question, _record(course, question, "", NoAnswer(reason=missing, sent=False)), "")
    prompt = prompt_for(course, question)

    def begin(granted: Granted) -> ReachRecord:
        reach = _record(course, question, granted.row.id, BROKEN_OFF)
        means.store.note(reach)
        return reach

    out = send_authorised(
        course.gate(), course.vault.live.policy.settings, course.zone, kind=request.kind,
        destination=means.reacher.destination, excerpts=excerpts_of(question.ask), text=prompt, begin=begin,
        clock=means.clock,
    )  # fmt: skip
    if isinstance(out, BudgetRefusal):
        return course.ended(f"no reach: {refused_text(course, out)}")
    if isinstance(out, Turned):
        return course.ended(f"nothing was sent: {out.reason}")
    end = means.reacher.run(out.cleared, out.granted, should_stop=means.should_stop)
    return _landed(course, question, _answered(course, question, out.begun, end), prompt)


def _record(course: Course, question: Question, reach_id: str, outcome: NoAnswer) -> ReachRecord:
    at = course.request.at
    block = ReachBlock(
        at=at.time().replace(second=0, microsecond=0, tzinfo=None),
        subject=question.subject,
        origin=question.origin,
        outcome=outcome,
        budget=budget_line(course),
    )
    resolution: Resolution = "aborted" if outcome.sent else "unsent"
    return ReachRecord(
        id=reach_id,
        at=at,
        kind=question.kind,
        block=block,
        resolution=resolution,
        pair=question.pair,
        seed=question.seed,
    )


def _answered(course: Course, question: Question, reach: ReachRecord, end: ReachEnd) -> ReachRecord:
    """The reach with what came of it, on the disk before anything else is done with it."""
    outcome, resolution = read_end(end)
    vault = course.vault
    if isinstance(outcome, Answer):
        outcome = replace(outcome, sources=without_notes(outcome.sources, note_names(vault)))
    note = choose_log(vault.names, vault.home, reach.at.date())
    home = seed_home(vault, question, outcome, end.run.last_message, note=note)
    answered = replace(
        reach,
        step="answered",
        resolution=resolution,
        block=replace(reach.block, outcome=outcome, between=home.links, no_link=home.why_not),
        homes=home.paths,
        requests=end.run.requests,
        raw=end.run.last_message if resolution == "unparsed" else "",
    )
    course.means.store.note(answered)
    failure = end.run.failure
    note_backoff(course.gate(), end, "" if failure is None else failure_text(failure), course.now())
    return answered


def _landed(course: Course, question: Question, reach: ReachRecord, prompt: str) -> ReachResult:
    settled = _settled(course, reach)
    reach = settled.reach
    return course.result(
        subject=question.name,
        outcome=reach.block.outcome,
        resolution=reach.resolution,
        block=reach.block,
        note=settled.note,
        written=settled.written,
        waits=settled.waits,
        led_to=settled.led_to,
        reach_id=reach.id,
        prompt=prompt,
        blanked=blanked_in(question) if prompt else (),
        question=question,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settled:
    """A reach as far as it could be brought home."""

    reach: ReachRecord
    """As its block tells it."""
    note: str = ""
    """Vault path of the dream note with the block; `""` where there is none."""
    written: bool = False
    """The block was put there now."""
    waits: str = ""
    """Why the block waits; `""` where it does not."""
    led_to: tuple[str, ...] = ()
    """What is proposed for it, or why nothing is, in sentences."""


def _settled(course: Course, reach: ReachRecord) -> _Settled:
    """Ledger, memo, block and seed, proposals, in this order. Each step is safe to repeat, so the next run finishes
    what a crash cuts off, or what no note took."""
    means = course.means
    if reach.id:
        settle(
            means.state, course.zone, reach_id=reach.id, verdict=reach.resolution, requests=reach.requests,
            clock=means.clock,
        )  # fmt: skip
    row = None if reach.pair is None else cached_answer(reach.kind, reach.pair, reach.block.outcome, reach.at)
    means.store.remember([] if row is None else [row])
    reach = replace(reach, block=replace(reach.block, budget=budget_line(course)))
    earlier = said_before(reach, means.files, course.vault)
    if earlier is not None:
        course.said.append(f"The dream note says so already, at {earlier:%H:%M}, so it was not said again.")
        note = ""
    else:
        request, today = course.request, course.now().date()
        found = land(reach, means.files, means.look, today=today, host=request.host, quiet_s=request.quiet_s)
        match found:
            case Waits(reason):
                return _Settled(reach=reach, waits=reason)
            case Landed(note):
                pass
            case _:
                assert_never(found)
    led_to: tuple[str, ...] = ()
    if reach.id:
        model = means.reacher.destination
        led_to = propose_reached(reach, note, means.look(), means.files, means.records, model=model)
        means.store.landed(reach)
    return _Settled(reach=reach, note=note, written=earlier is None, led_to=led_to)


def finish_reaches(request: ReachRequest, means: Means) -> tuple[str, ...]:
    """What earlier reaches left between their call and their block, brought home as far as it can be; sentences.

    Asks nobody, and sends nothing. Where nothing is left the vault is not even read.

    Raises:
        WriteRefusedError: the state folder cannot be written.
        BusyError: a reach of this vault is under way.
        StateDamagedError: the journals cannot be read.
    """
    if not find_unfinished(means.store.reaches()[0]):
        return ()
    with means.store.alone().held():
        course = Course(request, means, means.look())
        _finish_earlier(course)
    return tuple(course.said)


def _finish_earlier(course: Course) -> None:
    """What earlier runs left between their call and their block: told, and written now where a note takes it."""
    for reach in find_unfinished(course.means.store.reaches()[0]):
        when = f"The reach of {reach.at:%Y-%m-%d %H:%M}"
        settled = _settled(course, reach)
        if reach.step == "begun":
            course.said.append(f"{when} was broken off before its answer was kept. It counts as spent.")
        if settled.waits:
            course.said.append(f"{when} still waits for a dream note that takes its block: {settled.waits}.")
        elif reach.step != "begun":
            course.said.append(f"{when} was answered, and its block was still missing. It is in {settled.note} now.")
        course.said += settled.led_to

