"""`aria-dream eval reach` as a person runs it, and its live half with a scripted program in Codex' place."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from aria_dream.adapters.codex.codex_reacher import CodexReacher
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.gate.consent import write_consent
from aria_dream.adapters.gate.egress import EGRESS, Gate
from aria_dream.adapters.gate.ledger import read_ledger
from aria_dream.cli import eval_reach_live, main
from aria_dream.evals.reach_corpus import RecordedAnswer, parse_reach_corpus
from aria_dream.policy.policy import parse_policy
from aria_dream.privacy.sharing import survey
from aria_dream.reach.reach_events import Failure, ReachEnd, ReachRun
from aria_dream.usecases.eval_reach import LiveAsker, Unasked
from tests.e2e.test_dream import run
from tests.reaching import at_server
from tests.responses_server import ResponsesServer, message, stream, tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.adapters.gate.egress import ClearedText
    from aria_dream.adapters.gate.ledger import Granted

REPOSITORY = Path(__file__).resolve().parents[2]
FORMATS = REPOSITORY / "docs" / "FORMATS.md"
EXAMPLES = REPOSITORY / "examples"
ITEMS, _ = parse_reach_corpus((EXAMPLES / "reach-corpus.jsonl").read_text("utf-8"))


def state_of(home: Path) -> Path:
    return home / "state" / "aria-dream"


def test_recorded_answers_are_scored_without_any_network(tmp_path: Path) -> None:
    result = json.loads(run("eval", "reach", "--json").stdout)
    page = FORMATS.read_text("utf-8").partition("### `aria-dream eval reach --json`")[2].partition("\n###")[0]
    assert set(result) == {name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
                           for name in re.findall("`([^`]+)`", row)}  # fmt: skip
    for model in result["models"]:
        assert all(f"`{key}`" in page for key in model)
        assert all(f"`{key}`" in page for item in model["items"] for key in item)
        assert len(model["items"]) == model["answered"] == 12
    assert [model["model"] for model in result["models"]] == ["written-lean", "written-careful"]
    assert result["choice"] == "written-careful"
    assert not (state_of(tmp_path / "home") / EGRESS).exists()


def test_figures_and_the_rule_one_can_read() -> None:
    said = run("eval", "reach").stdout
    assert "answers written by hand, as an example" in said
    assert re.search(r"false ORPHAN +█+·+ +3 of 8", said)
    assert re.search(r"homes-2 +homes +homes +fabricated", said)
    assert "The cheapest model is taken, unless a dearer one has at least 2 false ORPHANs fewer" in said
    assert "Choice: written-careful, because" in said


def test_pages_are_looked_at_only_after_a_confirmation(tmp_path: Path) -> None:
    done = run("eval", "reach", "--resolve", check=False)
    assert done.returncode == 7
    assert "aria-dream consent --give" in done.stderr
    home = tmp_path / "home"
    write_consent(state_of(home), datetime.now(UTC))
    answers = tmp_path / "answers.jsonl"
    lines = (EXAMPLES / "reach-answers.jsonl").read_text("utf-8").splitlines()
    local = {"type": "answer", "model": "written-lean", "item": "homes-1", "requests": 1, "seconds": 1,
             "text": "HOMES\nEdge: e\nA.\nSources:\n- http://127.0.0.1:9/x\n- http://10.0.0.1/y\n"}  # fmt: skip
    answers.write_text(f"{lines[0]}\n{json.dumps(local)}\n", encoding="utf-8")
    result = json.loads(run("eval", "reach", "--resolve", "--answers", answers, "--json").stdout)
    assert result["said"] == ["No server answered, so the network is away; what was recorded of the sources counts"]
    assert not (state_of(home) / EGRESS).exists()  # nothing public was cited, so nobody was asked


def test_a_model_that_wins_by_saying_nothing_is_told(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    lines = (EXAMPLES / "reach-answers.jsonl").read_text("utf-8").splitlines()
    mute = {"type": "answer", "model": "written-lean", "requests": 1, "seconds": 1, "text": "Hm."}
    rows = [json.dumps({**mute, "item": item.id}) for item in ITEMS]
    answers.write_text("\n".join((lines[0], *rows)) + "\n", encoding="utf-8")
    result = json.loads(run("eval", "reach", "--answers", answers, "--json").stdout)
    assert result["choice"] == "written-lean"
    assert result["said"] == ["written-lean passes 0 of 12, less than half: read its answers before you take it"]


def test_answers_that_are_none(tmp_path: Path) -> None:
    broken = tmp_path / "answers.jsonl"
    broken.write_text('{"type": "answer"}\n', encoding="utf-8")
    done = run("eval", "reach", "--answers", broken, check=False)
    assert (done.returncode, "answers.jsonl:1" in done.stderr) == (2, True)
    assert run("eval", "reach", "--corpus", tmp_path / "none.jsonl", check=False).returncode == 4
    assert run("eval", "reach", "--live", check=False).returncode == 2


def test_live_without_confirmation_or_login_asks_nobody_and_says_so(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    done = run("eval", "reach", "--live", "--save", kept)
    assert "was asked 0 of 12, and 12 requests wait: nobody confirmed" in done.stdout
    assert len(kept.read_text("utf-8").splitlines()) == 27  # what ships, and the model that has not answered
    assert not (state_of(tmp_path / "home") / "reach-ledger.tsv").exists()


@dataclass
class Scripted:
    end: ReachEnd
    texts: list[str] = field(default_factory=list)
    destination: str = "Codex (gpt-5.5)"

    def missing(self) -> str:
        return ""

    def run(self, cleared: ClearedText, granted: Granted, *, should_stop: Callable[[], str]) -> ReachEnd:
        assert (should_stop(), granted.row.verdict) == ("", "initiated")
        self.texts.append(cleared.text)
        return self.end


def asker(state: Path, end: ReachEnd) -> tuple[LiveAsker, Scripted]:
    policy, _ = parse_policy(None)
    sharing, _ = survey((), policy)
    write_consent(state, datetime.now(UTC))
    scripted = Scripted(end)
    return LiveAsker(
        asker=scripted, gate=Gate(state=state, sharing=sharing, purpose="eval"), sharing=sharing,
        settings=policy.settings, state=state, zone=UTC, model="gpt-5.5-medium",
    ), scripted  # fmt: skip


def ended(text: str, *, sent: bool = True, failure: Failure | None = None) -> ReachEnd:
    run_ = ReachRun(sent=sent, web_turns=1, requests=3 if sent else 0, last_message=text, failure=failure)
    return ReachEnd(run=run_, seconds=12.34)


def test_the_corpus_is_asked_like_a_reach(tmp_path: Path) -> None:
    live, scripted = asker(tmp_path, ended("NEITHER\nOnly a word.\nSources:\n"))
    internal, external = ITEMS[0], ITEMS[2]
    found = [live.answer(item) for item in (internal, external, ITEMS[1])]
    assert found[0] == RecordedAnswer(
        item=internal.id, model="gpt-5.5-medium", text="NEITHER\nOnly a word.\nSources:\n", requests=3, seconds=12.3
    )
    assert isinstance(found[1], Unasked)  # three requests each: the first one already spent the five hours' budget
    assert "of the last 5 hours are spent" in found[1].reason
    (text,) = scripted.texts
    assert "Handing over the watch" in text
    assert "homes-1" not in text
    assert "sbar" not in text.casefold()  # neither label nor hint leaves
    rows = [(row.kind, row.verdict) for row in read_ledger(tmp_path)[0]]
    assert rows == [("internal", "initiated"), ("internal", "excess"), ("internal", "neither")]
    (logged,) = [json.loads(line) for line in (tmp_path / EGRESS).read_text().splitlines()]
    assert logged["purpose"] == "eval"


@pytest.mark.parametrize(
    ("end", "verdict"),
    [
        (ended("", sent=False, failure=Failure("unreachable", "Connection failed:")), "unsent"),
        (ended("", failure=Failure("usage limit", "hit your usage limit")), "refused"),
    ],
)
def test_a_failure_ends_the_asking(tmp_path: Path, end: ReachEnd, verdict: str) -> None:
    live, _ = asker(tmp_path, end)
    assert isinstance(live.answer(ITEMS[0]), Unasked)
    assert [row.verdict for row in read_ledger(tmp_path)[0]][-1] == verdict


def test_the_whole_command_asks_the_real_codex_keeps_what_it_paid_for_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, kept = find_places().state, tmp_path / "kept.jsonl"
    write_consent(state, datetime.now(UTC))
    said = ["HOMES\nEdge: structured handover\nSBAR.\nSources:\n- https://en.wikipedia.org/wiki/SBAR", "NEITHER\nNo."]
    with ResponsesServer([stream(message(text)) for text in said]) as server:
        monkeypatch.setattr(
            eval_reach_live, "CodexReacher", functools.partial(CodexReacher, elsewhere=at_server(server.url))
        )
        done = CliRunner().invoke(main, ["eval", "reach", "--live", "--save", str(kept), "--json"])
        assert done.exit_code == 0, (done.output, done.exception)
        assert len(server.metered) == 2  # what the budget of five hours holds
        again = CliRunner().invoke(main, ["eval", "reach", "--live", "--save", str(kept), "--json"])
        assert len(server.metered) == 2
    first, second = (json.loads(each.stdout) for each in (done, again))
    for result, asked in ((first, 2), (second, 0)):
        (live,) = [model for model in result["models"] if model["model"] == "gpt-5.5-medium"]
        assert [(item["id"], item["said"], item["right"]) for item in live["items"]] == [
            ("homes-1", "homes", True), ("homes-2", "neither", False),
        ]  # fmt: skip
        assert live["unchecked"] == 1  # nobody has looked at its source
        assert result["said"][0].startswith(f"gpt-5.5-medium was asked {asked} of {10 + asked}, and")
    assert [row.verdict for row in read_ledger(state)[0]] == ["initiated", "homes", "initiated", "neither"]
    assert "Handing over the watch" in server.everything()


def test_a_server_that_calls_tools_without_end_gets_one_request_and_ends_the_asking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = find_places().state
    write_consent(state, datetime.now(UTC))
    with ResponsesServer([stream(tool("no_such_tool", {}))]) as server:
        monkeypatch.setattr(
            eval_reach_live, "CodexReacher", functools.partial(CodexReacher, elsewhere=at_server(server.url))
        )
        done = CliRunner().invoke(main, ["eval", "reach", "--live", "--save", str(tmp_path / "kept.jsonl")])
        assert done.exit_code == 0, (done.output, done.exception)
        assert len(server.metered) == 1
    assert "more than the one request that was set aside" in done.stdout
    assert [(row.verdict, row.requests) for row in read_ledger(state)[0]] == [("initiated", 1), ("aborted", 1)]
