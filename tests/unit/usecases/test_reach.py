"""A whole reach over a real vault and a real ledger, with somebody scripted at the other end."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.codex.reach_asks import answered_in_notes
from aria_dream.adapters.gate.consent import CONSENT
from aria_dream.adapters.gate.ledger import MEMO, ReachStore
from aria_dream.adapters.gate.rate_limit_backoff import PAUSE, read_backoff
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.adapters.state.run_store import RunStore
from aria_dream.errors import WriteRefusedError
from aria_dream.reach.answer_cache import known_already, parse_answer_cache
from aria_dream.reach.reach import Answer, Unparsed
from aria_dream.reach.reach_block import NoAnswer
from aria_dream.reach.reach_reading import parse_reach_blocks
from aria_dream.review.proposal import event_record
from aria_dream.usecases.reach import ReachRequest, finish_reaches
from tests.e2e.test_dream import NOTES
from tests.reach_bench import HOMES, NEITHER, ORPHAN, POLICY, ReachBench, answered, failed

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.reach.reach_events import ReachEnd
    from aria_dream.reach.reach_record import ReachKind


@pytest.fixture
def bench(tmp_path: Path) -> ReachBench:
    made = ReachBench(tmp_path, NOTES)
    made.home()
    made.consent()
    return made


def test_a_seed_is_reached_on_and_flipped_with_its_block(bench: ReachBench) -> None:
    bench.reacher.answers = [answered(ORPHAN)]
    before = bench.files()
    result = bench.reach("external")
    assert result.resolution == "orphan"
    assert result.subject == "Sleep replays the day backwards"  # the oldest
    assert bench.verdicts() == ["initiated", "orphan"]
    (block,) = parse_reach_blocks(bench.note())[0]
    assert block == result.block
    assert isinstance(block.outcome, Answer)
    assert block.outcome.is_finding
    assert "Foster & Wilson, 2006" in bench.reacher.sent[0].text
    seeds = bench.read("dreams/Dream seeds.md")
    was = before["dreams/Dream seeds.md"].decode()
    assert seeds == was.replace("open   # since summer", "dreamt   # since summer")
    assert set(bench.files()) - set(before) == {"dreams/2026-11-30 dream.md"}
    assert not (bench.state / MEMO).exists()  # a seed is never memoised
    assert "Budget: reach 1 this week / 12 · 1 in this 5h window / 2." in bench.note()
    assert "## 14:32 — reach (Codex + web)" in bench.note()


def test_the_second_seed_comes_next_and_then_nothing(bench: ReachBench) -> None:
    bench.reacher.answers = [answered(ORPHAN), answered(NEITHER)]
    bench.reach("external")
    result = bench.reach("external")
    assert result.subject == "Retrieval practice beats rereading"
    assert "https://example.org/paper?id=7" in bench.reacher.sent[1].text
    bench.now += timedelta(hours=6)
    result = bench.reach("external")
    assert "nothing to reach" in result.reason
    assert len(bench.verdicts()) == 4


def test_the_pair_is_one_that_the_writer_has_seen(bench: ReachBench) -> None:
    dreamt = bench.dream(start="Compost.md")
    assert dreamt.block is not None
    assert dreamt.dreamt is not None
    top = dreamt.dreamt.kept[0].juxtaposition
    bench.reacher.answers = [answered(HOMES)]
    result = bench.reach("internal")
    assert result.question is not None
    assert result.question.pair == top.pair
    assert result.resolution == "homes"
    (block,) = parse_reach_blocks(bench.note())[0]
    assert block.origin == "survivor from the 06:32 idle dream"
    assert "`https://example.org/cultures`" in bench.note()  # without what tracks a reader
    rows, _ = parse_answer_cache((bench.state / MEMO).read_text(encoding="utf-8"))
    assert [(row.pair, row.verdict) for row in rows] == [(top.pair, "homes")]
    assert any("Dreamt again: 20261130-063207-4" in said for said in result.said)


def test_answered_pairs_are_passed_over_and_said_until_nothing_is_left(bench: ReachBench) -> None:
    dreamt = bench.dream(start="Compost.md")
    assert dreamt.dreamt is not None
    kept = len(dreamt.dreamt.kept)
    assert kept >= 2
    bench.reacher.answers = [answered(NEITHER)] * kept
    for number in range(kept):
        bench.now += timedelta(hours=6)
        result = bench.reach("internal")
        assert result.resolution == "neither"
        skips = [said for said in result.said if said.startswith("Passed over")]
        assert len(skips) == number
        assert all(re.search(r"answered already: NEITHER on 2026-1\d-\d\d\.", skip) for skip in skips)
    bench.now += timedelta(hours=6)
    before = bench.ledger()
    result = bench.reach("internal")
    assert "every survivor" in result.reason
    assert bench.ledger() == before
    bench.now += timedelta(days=31)  # `neither` has cooled down
    bench.reacher.answers = [answered(NEITHER)]
    assert bench.reach("internal").resolution == "neither"


def test_the_dream_notes_know_what_this_machine_does_not(bench: ReachBench) -> None:
    """Another machine on the same vault has answered the pair: its ledger and memo are not here, its note is."""
    bench.dream(start="Compost.md")
    bench.reacher.answers = [answered(HOMES), answered(HOMES)]
    first = bench.reach("internal")
    (bench.state / MEMO).unlink()
    second = bench.reach("internal")
    assert first.subject != second.subject
    assert any("answered already: HOMES" in said for said in second.said)


def test_a_decided_pair_is_not_asked(bench: ReachBench) -> None:
    dreamt = bench.dream(start="Compost.md")
    assert dreamt.block is not None
    decided = dreamt.block.pairs[0]
    RecordStore(bench.state).note(event_record("rejected", decided.id, bench.now))
    bench.reacher.answers = [answered(HOMES)]
    result = bench.reach("internal")
    assert any("which you have decided" in said for said in result.said)
    assert decided.to.title not in result.subject


def test_a_start_that_was_never_dreamt_from_is_dreamt_for_the_reach(bench: ReachBench) -> None:
    bench.dream(start="Compost.md")
    bench.reacher.answers = [answered(HOMES)]
    before = bench.files()
    result = bench.reach("internal", start="Slack water.md")
    assert result.subject.startswith("Slack water ↔")
    assert result.block is not None
    assert result.block.origin == "survivor of a dream made for this reach and not written"
    after = bench.files()
    assert {name: after[name] for name in before if "dream.md" not in name} == {
        name: data for name, data in before.items() if "dream.md" not in name
    }
    # The dream note of the day keeps every byte, and gains the block of the reach.
    note = "dreams/2026-11-30 dream.md"
    assert after[note].startswith(before[note])
    assert after[note].count(b"## ") == before[note].count(b"## ") + 1


def test_a_confirmation_withdrawn_at_the_last_moment_costs_nothing(bench: ReachBench) -> None:
    bench.home()
    bench.consent()

    def nonce() -> str:  # the last thing that is asked for before the row is written
        (bench.places.state / CONSENT).unlink(missing_ok=True)
        return "nonce0001"

    result = bench.reach("external", nonce=nonce)
    assert result.reason.startswith("nothing was sent: ")
    assert bench.verdicts() == ["initiated", "unsent"]
    assert result.counted is not None
    assert (result.counted.in_month, bench.egress(), bench.reacher.sent) == (0, "", [])


def test_nobody_confirmed_nothing_leaves(bench: ReachBench) -> None:
    (bench.places.state / CONSENT).unlink()
    result = bench.reach("external")
    assert "nobody confirmed" in result.reason
    assert bench.asked_to_confirm == ["Codex (gpt-5.5)"]
    assert not bench.reacher.sent
    assert not bench.ledger()
    assert not bench.egress()
    bench.confirms = True
    bench.reacher.answers = [answered(ORPHAN)]
    assert bench.reach("external").resolution == "orphan"


@pytest.mark.parametrize(
    "line",
    ["- network: web-off\n", "- reach_requests_per_5h: soon\n", "- sandbox: danger-full-access\n", "- exlude: Diary\n"],
)
def test_a_policy_that_forbids_or_is_in_doubt_sends_nothing(bench: ReachBench, line: str) -> None:
    bench.write("dreaming.md", POLICY + line)
    result = bench.reach("external")
    assert result.reason
    assert not bench.reacher.sent
    assert not bench.ledger()


def test_a_spent_budget_is_refused_with_its_time_before_anything(bench: ReachBench) -> None:
    bench.write("dreaming.md", POLICY + "- reach_requests_per_5h: 1\n")
    bench.reacher.answers = [answered(ORPHAN)]
    bench.reach("external")
    result = bench.reach("external")
    assert "1 of 1 requests of the last 5 hours are spent" in result.reason
    assert "2026-11-30 at 19:32" in result.reason
    assert len(bench.reacher.sent) == 1
    assert bench.verdicts() == ["initiated", "orphan"]
    assert len(bench.egress().splitlines()) == 1


def test_the_row_and_the_log_are_on_the_disk_before_the_call(bench: ReachBench) -> None:
    seen: list[tuple[list[str], int]] = []

    def call() -> ReachEnd:
        seen.append((bench.verdicts(), len(bench.egress().splitlines())))
        return answered(ORPHAN)

    bench.reacher.answers = [call]
    bench.reach("external")
    assert seen == [(["initiated"], 1)]
    record = json.loads(bench.egress())
    assert (record["purpose"], record["destination"]) == ("reach", "Codex (gpt-5.5)")


def test_a_wish_for_more_than_was_set_aside_is_counted(bench: ReachBench) -> None:
    bench.reacher.answers = [answered(ORPHAN, requests=5)]
    result = bench.reach("external")
    assert result.counted is not None
    assert result.counted.in_week == 5
    assert "reach 5 this week" in bench.note()


def test_unreachable_is_not_spent_and_the_block_says_so_once(bench: ReachBench) -> None:
    bench.reacher.answers = [failed("unreachable", "Connection failed: no route", sent=False)] * 2
    result = bench.reach("external")
    assert bench.verdicts() == ["initiated", "unsent"]
    assert result.counted is not None
    assert result.counted.in_week == 0
    assert "No answer (nothing was sent): Codex could not reach its server" in bench.note()
    assert "Budget: reach 0 this week" in bench.note()
    assert "status: open" in bench.read("dreams/Dream seeds.md")
    note = bench.note()
    again = bench.reach("external")
    assert not again.written
    assert bench.note() == note
    assert not (bench.places.state / PAUSE).exists()


def test_without_codex_nothing_is_counted_or_logged(bench: ReachBench) -> None:
    bench.reacher.gone = "Codex CLI is not installed"
    result = bench.reach("external")
    assert isinstance(result.outcome, NoAnswer)
    assert not result.outcome.sent
    assert not bench.ledger()
    assert not bench.egress()
    assert "nothing was sent): Codex CLI is not installed" in bench.note()


@pytest.mark.parametrize(
    ("end", "verdict"),
    [
        (failed("login", "unexpected status 401 Unauthorized"), "refused"),
        (failed("usage limit", "You’ve hit your usage limit. Try again in 2 hours."), "refused"),
        (failed("cut", "stream disconnected"), "failed"),
        (failed("failed", "unexpected status 500"), "failed"),
        (failed("capacity", "We’re currently experiencing high demand"), "failed"),
        (failed("cut", stopped="it took longer than 300 seconds", partial="ORPHAN\nAnd"), "aborted"),
        (answered("I would rather not say."), "unparsed"),
        (answered(""), "unparsed"),
    ],
)
def test_sent_and_not_answered_is_spent_and_burns_no_seed(bench: ReachBench, end: ReachEnd, verdict: str) -> None:
    bench.reacher.answers = [end]
    result = bench.reach("external")
    assert bench.verdicts() == ["initiated", verdict]
    assert result.counted is not None
    assert result.counted.in_week == 1
    assert not isinstance(result.outcome, Answer)
    assert bench.read("dreams/Dream seeds.md").count("dreamt") == 0
    assert parse_reach_blocks(bench.note())[0] == (result.block,)
    if isinstance(result.outcome, Unparsed):
        assert "rather not" in bench.note() or not end.run.last_message


def test_what_cannot_be_read_is_kept_whole(bench: ReachBench) -> None:
    text = "Well, " + "that depends. " * 3_000
    bench.reacher.answers = [answered(text)]
    bench.reach("external")
    (reach,) = ReachStore(bench.state).reaches()[0]
    assert reach.raw == text


def test_a_known_limit_is_waited_for(bench: ReachBench) -> None:
    limit = "You've hit your usage limit. Try again in 2 hours."
    bench.reacher.answers = [failed("usage limit", limit), answered(ORPHAN)]
    bench.reach("external")
    result = bench.reach("external")
    assert "rests until 2026-11-30 16:32" in result.reason
    assert len(bench.reacher.sent) == 1
    bench.now += timedelta(hours=2, minutes=1)
    assert bench.reach("external").resolution == "orphan"
    assert read_backoff(bench.places.state, bench.now) is None


def test_a_policy_that_changes_while_the_dream_is_dreamt_again_stops_it(bench: ReachBench) -> None:
    bench.dream(start="Compost.md")
    bench.write("dreaming.md", POLICY + "- never_send: Compost\n")
    changed = bench.policy()
    bench.write("dreaming.md", POLICY)
    result = bench.reach("internal", policy_now=lambda: changed)
    assert "the policy was changed" in result.reason
    assert not bench.reacher.sent
    assert not bench.ledger()


def test_a_rehearsal_shows_the_text_and_leaves_no_trace(bench: ReachBench) -> None:
    bench.dream(start="Compost.md")
    (bench.places.state / CONSENT).unlink()
    files, state = bench.files(), {path for path in bench.places.state.rglob("*") if path.is_file()}
    kinds: tuple[ReachKind, ...] = ("internal", "external")
    for kind in kinds:
        result = bench.rehearse(kind)
        assert result.prompt
        assert result.outcome is None
        assert any("nobody confirmed" in said for said in result.said)
    assert bench.files() == files
    assert {path for path in bench.places.state.rglob("*") if path.is_file()} - state <= {bench.state / "reach.lock"}
    assert not bench.ledger()
    assert not bench.egress()
    assert not bench.reacher.sent
    assert not bench.asked_to_confirm


def test_what_is_shown_is_what_leaves(bench: ReachBench) -> None:
    bench.reacher.answers = [answered(ORPHAN)]
    shown = bench.rehearse("external").prompt
    bench.reach("external")
    left = bench.reacher.sent[0].text
    assert re.sub("nonce\\d+", "", shown) == re.sub("nonce\\d+", "", left)
    assert shown != left


class Crash(BaseException):
    """The process ends here."""


def test_a_crash_in_the_call_is_spent_told_and_written_once(bench: ReachBench) -> None:
    def crash() -> ReachEnd:
        raise Crash

    bench.reacher.answers = [crash, answered(ORPHAN)]
    with pytest.raises(Crash):
        bench.reach("external")
    assert bench.verdicts() == ["initiated"]
    result = bench.reach("external")
    assert any("was broken off before its answer was kept. It counts as spent." in said for said in result.said)
    assert bench.verdicts() == ["initiated", "aborted", "initiated", "orphan"]
    blocks = parse_reach_blocks(bench.note())[0]
    assert [type(block.outcome).__name__ for block in blocks] == ["NoAnswer", "Answer"]
    bench.now += timedelta(hours=6)
    bench.reacher.answers = [answered(ORPHAN)]
    bench.reach("external")
    assert len(parse_reach_blocks(bench.note())[0]) == 3


STEPS = ["note_answered", "settle", "remember", "write", "written", "landed"]


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_after_the_call_loses_no_answer_and_doubles_nothing(
    bench: ReachBench, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed at each step between the answer and its block, the next run finishes it; the answer is bought once."""
    from aria_dream.adapters.disk.files import DiskVault
    from aria_dream.usecases import reach as reach_cycle

    bench.dream(start="Compost.md")
    bench.reacher.answers = [answered(HOMES)]

    def dead(*_arguments: object, **_named: object) -> object:
        raise Crash

    with monkeypatch.context() as patch:
        match step:
            case "note_answered":
                patch.setattr(reach_cycle, "read_end", dead)
            case "settle":
                patch.setattr(reach_cycle, "settle", dead)
            case "remember":
                patch.setattr(ReachStore, "remember", dead)
            case "write":
                patch.setattr(DiskVault, "write", dead)
            case "written":
                real = DiskVault.write

                def write(self: DiskVault, *arguments: object, **named: object) -> object:
                    real(self, *arguments, **named)  # type: ignore[arg-type]
                    raise Crash

                patch.setattr(DiskVault, "write", write)
            case _:
                patch.setattr(ReachStore, "landed", dead)
        with pytest.raises(Crash):
            bench.reach("internal")
    first = bench.reacher.sent[0]
    bench.reacher.answers = [answered(NEITHER)]
    result = bench.reach("internal")
    told = [said for said in result.said if said.startswith("The reach of")]
    assert len(told) == 1
    blocks, problems = parse_reach_blocks(bench.note())
    assert not problems
    assert len(blocks) == 2
    lost = step == "note_answered"
    assert [row.verdict for row in bench.ledger()] == (
        ["initiated", "aborted" if lost else "homes", "initiated", "neither"]
    )
    if not lost:  # what was answered is not asked again
        assert bench.reacher.sent[1].text.split("Kind:")[1] != first.text.split("Kind:")[1]
        assert any("answered already: HOMES" in said for said in result.said)
    files = bench.files()
    assert "spent" in bench.reach("internal").reason
    assert bench.files() == files


def test_a_note_that_takes_no_block_keeps_the_answer_for_the_next_run(bench: ReachBench) -> None:
    bench.write("dreams/2026-11-30 dream.md", "---\naria-dream: log\n---\n```\nI am still typing\n")
    bench.reacher.answers = [answered(ORPHAN)]
    result = bench.reach("external")
    assert "dreams/2026-11-30 dream.md: ends inside a code block" in result.waits
    assert (result.written, result.note, result.resolution) == (False, "", "orphan")
    assert bench.verdicts() == ["initiated", "orphan"]
    assert "dreamt" not in bench.read("dreams/Dream seeds.md")
    bench.write("dreams/2026-11-30 dream.md", "---\naria-dream: log\n---\n```\nI am done\n```\n")
    bench.now += timedelta(hours=6)
    bench.reacher.answers = [answered(NEITHER)]
    result = bench.reach("external")
    assert any("its block was still missing" in said for said in result.said)
    assert [block.at.hour for block in parse_reach_blocks(bench.note())[0]] == [14, 20]
    assert bench.read("dreams/Dream seeds.md").count("status: dreamt") == 2
    assert result.subject == "Retrieval practice beats rereading"


def test_a_block_that_no_note_takes_holds_no_other_reach_back_and_goes_into_the_next_days_note(
    bench: ReachBench,
) -> None:
    open_fence = "---\naria-dream: log\n---\n```\nnever closed\n"
    bench.write("dreams/2026-11-30 dream.md", open_fence)
    bench.reacher.answers = [answered(ORPHAN), answered(NEITHER)]
    assert bench.reach("external").waits
    assert RunStore(bench.state).read().unfinished_reaches == 1
    second = bench.reach("external")
    assert second.waits
    assert second.subject == "Retrieval practice beats rereading"  # the first seed is answered, and not asked again
    assert any("still waits for a dream note" in said for said in second.said)
    third = bench.reach("external")
    assert "every open external-novelty seed is answered" in third.reason
    assert bench.verdicts() == ["initiated", "orphan", "initiated", "neither"]
    assert len(bench.reacher.sent) == 2

    bench.now += timedelta(days=1)
    told = finish_reaches(ReachRequest(at=bench.now, kind="internal", host="here"), bench.means())
    assert sum("It is in dreams/2026-12-01 dream.md now" in said for said in told) == 2
    assert bench.read("dreams/2026-11-30 dream.md") == open_fence
    blocks, problems = parse_reach_blocks(bench.read("dreams/2026-12-01 dream.md"))
    assert not problems
    assert ["asked on 2026-11-30" in block.origin for block in blocks] == [True, True]
    assert bench.read("dreams/Dream seeds.md").count("status: dreamt") == 2
    assert RunStore(bench.state).read().unfinished_reaches == 0
    files = bench.files()
    bench.write("dreams/2026-11-30 dream.md", "---\naria-dream: log\n---\nnow it would take one\n")
    assert finish_reaches(ReachRequest(at=bench.now, kind="internal"), bench.means()) == ()
    del files["dreams/2026-11-30 dream.md"]
    assert {name: bench.files()[name] for name in files} == files


OWN = "---\naria-dream: log\n{more}---\nMine.\n"


@pytest.mark.parametrize(
    "content",
    [
        OWN.format(more="") + "%%\nnever closed\n",
        OWN.format(more="") + "$$\nx\n",
        OWN.format(more="excalidraw-plugin: parsed\n"),
        OWN.format(more="kanban-plugin: basic\n"),
        OWN.format(more="").encode("utf-16"),
        OWN.format(more="").encode() + b"\xff\xfe torn",
        b"",
    ],
)
def test_whatever_the_days_note_is_no_answer_is_lost_or_doubled_and_no_byte_of_it_changes(
    bench: ReachBench, content: str | bytes
) -> None:
    note = bench.root / "dreams/2026-11-30 dream.md"
    data = content.encode() if isinstance(content, str) else content
    note.write_bytes(data)
    bench.reacher.answers = [answered(ORPHAN), answered(NEITHER)]
    assert bench.reach("external").resolution == "orphan"
    assert bench.reach("external").resolution == "neither"
    bench.now += timedelta(days=1)
    finish_reaches(ReachRequest(at=bench.now, kind="internal"), bench.means())
    assert RunStore(bench.state).read().unfinished_reaches == 0
    logs = [path for path in (bench.root / "dreams").iterdir() if " dream" in path.name]
    blocks = [block for path in logs for block in parse_reach_blocks(path.read_bytes().decode("utf-8", "replace"))[0]]
    assert sorted(type(block.outcome).__name__ for block in blocks) == ["Answer", "Answer"]
    assert note.read_bytes().startswith(data)
    assert bench.read("dreams/Dream seeds.md").count("status: dreamt") == 2


def test_a_later_note_tells_the_memo_the_day_on_which_it_was_asked(bench: ReachBench) -> None:
    bench.dream(start="Compost.md")
    with (bench.root / "dreams/2026-11-30 dream.md").open("a", encoding="utf-8") as note:
        note.write("\n```\nnever closed\n")
    bench.reacher.answers = [answered(NEITHER)]
    assert bench.reach("internal").waits
    bench.now += timedelta(days=3)
    finish_reaches(ReachRequest(at=bench.now, kind="internal"), bench.means())
    assert "asked on 2026-11-30" in bench.read("dreams/2026-12-03 dream.md")
    (here,) = parse_answer_cache((bench.state / MEMO).read_text(encoding="utf-8"))[0]
    (told,) = answered_in_notes(bench.look(), bench.means().files, UTC)
    assert known_already([here], told)


def test_a_crash_behind_the_later_note_writes_no_second_block_into_the_first(
    bench: ReachBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("dreams/2026-11-30 dream.md", "---\naria-dream: log\n---\n```\nnever closed\n")
    bench.reacher.answers = [answered(ORPHAN)]
    bench.reach("external")
    bench.now += timedelta(days=1)
    request = ReachRequest(at=bench.now, kind="internal")

    def dead(*_arguments: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(ReachStore, "landed", dead)
        with pytest.raises(Crash):
            finish_reaches(request, bench.means())
    closed = "---\naria-dream: log\n---\n```\nnever closed\n```\n"
    bench.write("dreams/2026-11-30 dream.md", closed)
    finish_reaches(request, bench.means())
    assert bench.read("dreams/2026-11-30 dream.md") == closed
    assert len(parse_reach_blocks(bench.read("dreams/2026-12-01 dream.md"))[0]) == 1


def test_a_log_that_cannot_be_kept_lets_nothing_leave_and_gives_the_request_back(bench: ReachBench) -> None:
    (bench.places.state / "egress.jsonl").mkdir()
    with pytest.raises(WriteRefusedError):
        bench.reach("external")
    assert bench.verdicts() == ["initiated", "unsent"]
    assert not bench.reacher.sent


def test_the_folder_is_made_ours_where_there_was_none(tmp_path: Path) -> None:
    bench = ReachBench(tmp_path, NOTES, answered(HOMES))
    bench.consent()
    result = bench.reach("internal", start="Compost.md")
    assert result.written
    assert set(bench.files()) - {*NOTES, "dreaming.md"} == {"dreams/2026-11-30 dream.md", "dreams/Dream review.md"}
    assert bench.look().home.exists


def test_the_block_belongs_to_the_day_on_which_the_reach_began(bench: ReachBench) -> None:
    bench.now = datetime(2026, 11, 30, 23, 59, 30, tzinfo=UTC)

    def slow() -> ReachEnd:
        bench.now += timedelta(minutes=3)
        return answered(ORPHAN)

    bench.reacher.answers = [slow]
    assert bench.reach("external").note == "dreams/2026-11-30 dream.md"


@pytest.mark.parametrize(
    ("policy", "head"),
    [
        ("- never_send: dreams\n", ""),
        ("- never_send: Dream seeds\n", ""),
        ("- exclude: dreams/*\n", ""),
        ("", "tags: [Private/inner]\n"),
        ("", "dream: false\n"),
    ],
)
def test_a_seeds_note_that_is_kept_back_stays_here(bench: ReachBench, policy: str, head: str) -> None:
    bench.write("dreaming.md", POLICY + policy)
    seeds = bench.read("dreams/Dream seeds.md")
    bench.write("dreams/Dream seeds.md", seeds.replace("aria-dream: seeds\n", f"aria-dream: seeds\n{head}"))
    result = bench.reach("external")
    assert "nothing of dreams/Dream seeds.md may leave" in result.reason
    assert not bench.reacher.sent
    assert not bench.rehearse("external").prompt


@pytest.mark.parametrize("tag", ["#private", "#Private/health", "#therapy"])
def test_a_seed_with_a_private_tag_is_passed_over_and_the_next_one_is_not(bench: ReachBench, tag: str) -> None:
    bench.write("dreaming.md", f'{POLICY}- never_send: "#therapy"\n')
    bench.write("Other.md", "Something. #therapy\n")
    seeds = bench.read("dreams/Dream seeds.md")
    bench.write("dreams/Dream seeds.md", f"{seeds}- struck: because {tag}\n")
    bench.reacher.answers = [answered(ORPHAN)]
    result = bench.reach("external")
    assert result.subject == "Retrieval practice beats rereading"
    assert any("Sleep replays the day backwards" in said and "bears a tag" in said for said in result.said)
