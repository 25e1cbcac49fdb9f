"""`aria-dream reach` as a writer types it, with somebody scripted at the other end."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.gate.consent import CONSENT
from aria_dream.cli import main, reach
from aria_dream.reach.reach_reading import parse_reach_blocks
from tests.e2e.test_dream import NOTES
from tests.reach_bench import HOMES, NEITHER, ORPHAN, POLICY, SEEDS, ScriptedReacher, answered, failed

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from aria_dream.reach.reach_events import ReachEnd


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    seeds = {"dreams/Dream review.md": "---\naria-dream: review\n---\n", "dreams/Dream seeds.md": SEEDS}
    for name, text in {**NOTES, **seeds, "dreaming.md": POLICY}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def reacher(monkeypatch: pytest.MonkeyPatch) -> ScriptedReacher:
    made = ScriptedReacher([])
    monkeypatch.setattr(reach, "open_reacher", lambda _vault, _places: made)
    return made


def run(*words: str | Path, code: int = 0) -> Result:
    done = CliRunner().invoke(main, ["reach", *map(str, words)], prog_name="aria-dream", standalone_mode=False)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        if code == 0:
            raise done.exception
        return done
    assert done.exit_code == code, done.output
    return done


def said(*words: str | Path) -> dict[str, Any]:
    found = json.loads(run(*words, "--json").stdout)
    assert isinstance(found, dict)
    return found


def test_without_a_confirmation_nothing_leaves_and_it_is_no_error(vault: Path, reacher: ScriptedReacher) -> None:
    done = run(vault, "--external")
    assert "nobody confirmed on this machine" in done.stdout
    assert "--consent" in done.stderr
    assert "2 of 2 in these 5 hours" in done.stdout
    assert not reacher.sent
    assert not (find_places().state / "reach-ledger.tsv").exists()


def test_consent_confirms_once_and_the_summary_is_one_line(vault: Path, reacher: ScriptedReacher) -> None:
    reacher.answers = [answered(ORPHAN), answered(NEITHER)]
    done = run(vault, "--external", "--consent")
    assert (find_places().state / CONSENT).exists()
    last = done.stdout.splitlines()[-1]
    assert last == (
        "reach (external): ORPHAN. Requests left: 1 of 2 in these 5 hours, 11 of 12 this week, 99 of 100 this month; "
        "a reach costs 1."
    )
    told = [line for line in done.stdout.splitlines() if line]
    assert told[:7] == [
        "Sleep replays the day backwards",
        "  source: Foster & Wilson, 2006",
        "  from: external-novelty seed of 2026-11-20",
        "Codex (gpt-5.5) argued:",
        "  A claim nobody has made.",
        "  The nearest work stops short.",
        "It cites, and nobody has looked:",
    ]
    assert "Verdict: ORPHAN, it may be new territory: nothing that was found says it." in told
    assert not re.search(r"[`>#]|\*\*|\[\[", done.stdout)  # words for a person, no Markdown
    (note,) = [line.removeprefix("Written to ").split(";")[0] for line in told if line.startswith("Written to ")]
    assert len(parse_reach_blocks((vault / note).read_text(encoding="utf-8"))[0]) == 1
    done = run(vault, "--external")
    assert done.stdout.splitlines()[-1].startswith("reach (external): NEITHER. Requests left: 0 of 2")
    done = run(vault, "--external")
    assert "nothing to reach" in done.stdout.lower()


def test_a_note_that_takes_no_block_is_told_and_stands_in_the_status(vault: Path, reacher: ScriptedReacher) -> None:
    reacher.answers = [answered(ORPHAN), answered(NEITHER)]
    day = datetime.now().astimezone().date()
    for ahead in range(2):  # midnight may pass meanwhile
        name = f"dreams/{(day + timedelta(days=ahead)).isoformat()} dream.md"
        (vault / name).write_text("---\naria-dream: log\n---\n```\nopen\n", encoding="utf-8")
    done = run(vault, "--external", "--consent")
    assert "The answer is kept, but no dream note takes it now: dreams/" in done.stdout
    assert "ends inside a code block" in done.stdout
    status = CliRunner().invoke(main, ["status", str(vault)])
    assert "1 reach is paid for and not in a dream note yet" in status.stdout
    found = json.loads(CliRunner().invoke(main, ["status", str(vault), "--json"]).stdout)
    assert found["reach"]["unfinished"] == 1
    assert "1 reach is paid for and not in a dream note yet" in CliRunner().invoke(main, ["doctor", str(vault)]).stdout
    waiting = said(vault, "--external")
    assert "still waits for a dream note that takes its block" in " ".join(waiting["said"])


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (failed("capacity", "high demand"), "reach (external): the server or the connection failed, spent."),
        (failed("login", "unexpected status 401"), "reach (external): the server refused it, spent."),
        (failed("unreachable", "Connection failed: no", sent=False), "nobody could be asked, nothing was sent."),
        (failed("cut", stopped="too long", partial="ORPHAN\n\x1b[31mAnd"), "it was ended before it answered, spent."),
    ],
)
def test_a_failure_is_called_what_it_is(vault: Path, reacher: ScriptedReacher, end: ReachEnd, told: str) -> None:
    reacher.answers = [end]
    done = run(vault, "--external", "--consent")
    assert told in done.stdout.splitlines()[-1]
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("line", "told", "left"),
    [
        ("monthly_reach_ceiling: 0", "allows no request this month (`monthly_reach_ceiling: 0`)", "none this month"),
        ("requests_per_reach: 3", "costs 3 requests, and the policy allows 2 in the last 5 hours", "2 of 2 in these"),
    ],
)
def test_a_budget_that_allows_none_is_said_without_arithmetic(
    vault: Path, reacher: ScriptedReacher, line: str, told: str, left: str
) -> None:
    with (vault / "dreaming.md").open("a", encoding="utf-8") as policy:
        policy.write(f"- {line}\n")
    done = run(vault, "--external", "--consent")
    assert told in done.stdout
    assert left in done.stdout.splitlines()[-1]
    assert "of 0" not in done.stdout
    assert not reacher.sent


def test_a_person_is_asked_what_leaves_to_whom(
    vault: Path, reacher: ScriptedReacher, monkeypatch: pytest.MonkeyPatch
) -> None:
    reacher.answers = [answered(ORPHAN)]

    monkeypatch.setattr(reach, "is_somebody_here", lambda: True)
    for answer in ("no\n", "y\n", "\n"):
        done = CliRunner().invoke(main, ["reach", str(vault), "--external"], input=answer)
        assert "Codex (gpt-5.5)" in done.stderr
        assert "nobody confirmed" in done.stdout
        assert not reacher.sent
    done = CliRunner().invoke(main, ["reach", str(vault), "--external"], input="yes\n")
    assert "reach (external): ORPHAN" in done.stdout
    assert len(reacher.sent) == 1


def test_the_rehearsal_shows_text_destination_and_budget(vault: Path, reacher: ScriptedReacher) -> None:
    done = run(vault, "--external", "--dry-run")
    assert "To:      Codex (gpt-5.5)" in done.stdout
    assert "Foster & Wilson, 2006" in done.stdout
    assert "Requests left: 2 of 2" in done.stdout
    assert "nothing was sent" in done.stdout
    found = said(vault, "--external", "--dry-run")
    assert "Foster & Wilson, 2006" in found["prompt"]
    assert found["answer"] is None
    assert not reacher.sent
    assert said(vault, "--log") == {"egress": [], "problems": []}


def test_the_log_tells_what_left(vault: Path, reacher: ScriptedReacher) -> None:
    reacher.answers = [answered(ORPHAN)]
    run(vault, "--external", "--consent")
    (record,) = said(vault, "--log")["egress"]
    assert record["destination"] == "Codex (gpt-5.5)"
    assert record["purpose"] == "reach"
    assert record["characters"] == len(reacher.sent[0].text)
    assert re.fullmatch("[0-9a-f]{64}", record["sha256"])
    assert record["sha256"] in run(vault, "--log").stdout


def test_the_memo_is_rebuilt_from_the_notes_and_keeps_what_they_do_not_know(
    vault: Path, reacher: ScriptedReacher
) -> None:
    reacher.answers = [answered(HOMES)]
    run(vault, "--internal", "--start", "Compost", "--consent")
    (answer_cache,) = find_places().state.rglob("reach-memo.tsv")
    before = answer_cache.read_text(encoding="utf-8")
    assert said(vault, "--backfill-memo")["added"] == 0
    answer_cache.write_text("2026-01-01T00:00:00+00:00\tA.md\tB.md\torphan\n", encoding="utf-8")
    found = said(vault, "--backfill-memo")
    assert (found["in_notes"], found["added"], found["known"]) == (1, 1, 2)
    text = answer_cache.read_text(encoding="utf-8")
    assert "A.md\tB.md\torphan" in text
    assert before.split("\t", 1)[1] in text
    assert said(vault, "--backfill-memo")["added"] == 0
    assert answer_cache.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "words",
    [[], ["--external", "--internal"], ["--external", "--start", "Compost"], ["--log", "--dry-run"], ["--dry-run"],
     ["--external", "--dry-run", "--consent"]],
)  # fmt: skip
def test_what_cannot_be_meant_is_said(vault: Path, reacher: ScriptedReacher, words: list[str]) -> None:
    done = CliRunner().invoke(main, ["reach", str(vault), *words])
    assert done.exit_code == 2, done.output
    assert not reacher.sent


@pytest.mark.usefixtures("reacher")
def test_a_seeds_note_without_our_marker_is_named(vault: Path) -> None:
    note = vault / "dreams/Dream seeds.md"
    note.write_text(SEEDS.partition("---\n")[2].partition("---\n")[2], encoding="utf-8")
    assert "`aria-dream: seeds`" in " ".join(said(vault, "--external")["said"])
    assert "`aria-dream: seeds`" in CliRunner().invoke(main, ["seeds", str(vault)]).stdout
    note.write_text(SEEDS, encoding="utf-8")
    assert said(vault, "--external", "--dry-run")["prompt"]
