"""L1 by a model: asked once a pair, kept by content, retried once, given up in time, and private where it is remote."""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.gate.consent import write_consent
from aria_dream.adapters.gate.egress import EGRESS, Gate
from aria_dream.adapters.index.cache_store import ContentCache
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.models.judges import NOBODY, Unjudged, open_judge
from aria_dream.adapters.models.model_judge import JudgeReport, ModelJudge
from aria_dream.judging.dreaming import NoJudge
from aria_dream.judging.triage_prompt import Drop, Keep, Unreadable
from aria_dream.ranking.juxtaposition import Juxtaposition
from tests.model_servers import DROP, KEEP, FakeModel, serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.judging.dreaming import Judge

AT = datetime(2026, 11, 30, tzinfo=UTC)
KEPT = Keep(None, "both are fed on a schedule")


def juxtaposition(first: str, second: str) -> Juxtaposition:
    return Juxtaposition(from_=f"{first}.md", to=f"{second}.md", score=0.4, path=None)


AB, AC, BC = juxtaposition("A", "B"), juxtaposition("A", "C"), juxtaposition("B", "C")
CD, AD, BD = juxtaposition("C", "D"), juxtaposition("A", "D"), juxtaposition("B", "D")


class Bench:
    """A vault with four notes, its policy, and the judges that open over it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.places = Places(state=folder / "state", cache=folder / "cache")
        self.root.mkdir()
        for name in "ABCD":
            (self.root / f"{name}.md").write_text(f"{name} tells of a heap that is fed and of SECRET-{name}.\n")
        self.problems: list[str] = []
        self.report = JudgeReport()
        self.sat: list[str] = []

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text, encoding="utf-8")

    def policy(self, url: str, *more: str, backend: str = "ollama") -> None:
        key = "triage_url" if backend == "openai" else "ollama_url"
        lines = [f"- triage_backend: {backend}", "- triage_model: judge", f"- {key}: {url}", *more]
        self.write("dreaming.md", "---\naria-dream: policy\n---\n" + "\n".join(lines) + "\n")

    def vault(self) -> DreamtVault:
        return read_dreamt_vault(self.root, self.places, environ={})

    def embedded(self) -> Judge:
        self.sat.append("embedded")
        return Unjudged()

    @contextmanager
    def judge(self, *, today: date = date(2026, 11, 30)) -> Iterator[Judge | NoJudge]:
        vault = self.vault()
        with ContentCache(self.places.vault_cache(vault.root)) as cache:
            yield open_judge(
                vault, cache, self.places.state, today=today, embedded=self.embedded, problems=self.problems,
                report=self.report,
            )

    def ask(self, *pairs: Juxtaposition, today: date = date(2026, 11, 30)) -> Sequence[Any]:
        with self.judge(today=today) as judge:
            assert not isinstance(judge, NoJudge), judge.reason
            return judge.judge(pairs)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_each_pair_is_asked_once_and_in_order(bench: Bench) -> None:
    said = iter([KEEP, DROP, "no idea"])
    with serving(FakeModel(say=lambda _: next(said))) as model:
        bench.policy(model.url)
        kept, dropped, unreadable = bench.ask(AB, AC, BC)
    assert kept == KEPT
    assert dropped == Drop(None, "they only share a month")
    assert isinstance(unreadable, Unreadable)
    assert "SECRET-A" in model.prompts[0]
    assert "SECRET-B" in model.prompts[0]
    assert len(model.requests) == 3  # what could not be read is not asked again
    nonces = [re.findall("<<<data ([0-9a-f]+)>>>", prompt)[0] for prompt in model.prompts]
    assert len(set(nonces)) == 3
    assert bench.report.trouble == (
        "1 of 3 answers of “judge” could not be read (the answer holds no JSON object, such as “no idea”)"
    )


def test_a_verdict_stands_until_note_title_prompt_or_model_changes(bench: Bench) -> None:
    with serving() as model:
        bench.policy(model.url)
        assert bench.ask(AB) == [KEPT]
        assert bench.ask(juxtaposition("B", "A")) == [KEPT]
        assert len(model.requests) == 1
        bench.write("A.md", "A tells of something else now.\n")
        bench.ask(AB)
        assert len(model.requests) == 2
        model.models[0]["digest"] = "other"
        bench.ask(AB)
        assert len(model.requests) == 3
        (bench.root / "A.md").rename(bench.root / "E.md")
        bench.ask(juxtaposition("E", "B"))
        assert len(model.requests) == 4


def test_without_a_digest_nobody_knows_whose_verdict_it_was(bench: Bench) -> None:
    with serving(FakeModel(models=[{"name": "judge:latest"}])) as model:
        bench.policy(model.url)
        bench.ask(AB)
        bench.ask(AB)
        assert len(model.requests) == 2


def test_what_failed_is_not_asked_again_that_night(bench: Bench) -> None:
    with serving(FakeModel(say=lambda _: '{"reason": "' + " \n" * 300)) as model:
        bench.policy(model.url)
        (first,) = bench.ask(AB)
        assert isinstance(first, Unreadable)
        assert len(model.requests) == 1  # endless output is not tried again
        assert bench.ask(AB) == [first]
        assert len(model.requests) == 1
        bench.ask(AB, today=date(2026, 12, 1))
        assert len(model.requests) == 2


def test_a_verdict_goes_when_its_note_becomes_invisible(bench: Bench) -> None:
    with serving() as model:
        bench.policy(model.url)
        bench.ask(AB, BC)
        bench.policy(model.url, "- exclude: B.md")
        with bench.judge() as judge:
            assert isinstance(judge, ModelJudge)
        kept = b"".join(path.read_bytes() for path in bench.places.cache.rglob("cache.sqlite3"))
        assert b"fed on a schedule" not in kept
        bench.policy(model.url)
        bench.ask(AB)
        assert len(model.requests) == 3


def test_a_busy_server_and_a_broken_line_have_one_more_try(bench: Bench) -> None:
    with serving(FakeModel(fail_first=1)) as model:
        bench.policy(model.url)
        assert bench.ask(AB) == [KEPT]
        assert len(model.requests) == 2
    with serving(FakeModel(fail_first=2)) as model:
        bench.policy(model.url)
        (failed,) = bench.ask(AC)
        assert isinstance(failed, Unreadable)
        assert "busy" in failed.reason
        assert len(model.requests) == 2


def test_a_part_of_the_question_that_a_server_refuses_costs_one_try(bench: Bench) -> None:
    with serving(FakeModel(refuse=lambda request: "no schema here" if "response_format" in request else "")) as model:
        bench.policy(model.url, backend="openai")
        assert bench.ask(AB, AC) == [KEPT, KEPT]
        assert len(model.requests) == 3


FINISHED = "; the built-in judge finished the dream"


THRICE = "gave no answer 3 times in a row: "
UNREAD = "gave 3 answers in a row that cannot be read "


@pytest.mark.parametrize("backend", ["auto", "ollama", "openai"])
@pytest.mark.parametrize(
    ("model", "questions", "said"),
    [
        (FakeModel(status=400, error="no"), 3, f"{THRICE}SERVER answered with error 400"),
        (FakeModel(status=500), 3, f"{THRICE}SERVER answered with error 500"),
        (FakeModel(status=401), 1, "did not answer: SERVER wants a login"),
        (FakeModel(status=404), 1, "did not answer: SERVER no longer has this model"),
        (FakeModel(status=500, error="more system memory"), 1, "did not answer: SERVER has too little memory for this"),
        (FakeModel(recorded=b"<html>a proxy</html>\n"), 3, f"{THRICE}.* is not JSON"),
        (FakeModel(say=lambda _: "Sure! #yes at https://example.org/x"), 3,
         f"{UNREAD}.the answer holds no JSON object, such as “Sure! #yes at …”.;"),
        (FakeModel(say=lambda _: ""), 3, f"{UNREAD}.the answer is empty.;"),
        (FakeModel(say=lambda _: "<think>hm"), 3, f"{UNREAD}.the model was still thinking .* “‹think›hm”.;"),
        (FakeModel(say=lambda _: KEEP.replace("}", ', "probability": NaN}')), 3, f"{UNREAD}.* a number that is none"),
        (FakeModel(say=lambda _: KEEP + KEEP), 3, f"{UNREAD}.the answer holds two objects, such as “{{"),
        (FakeModel(say=lambda _: KEEP.replace("{", '{"verdict": "keep", ')), 3, f"{UNREAD}.* the same key twice, such"),
        (FakeModel(say=lambda _: KEEP.replace("}", ', "path": "A.md"}')), 3, f"{UNREAD}.* is not of the form that was"),
    ],
)  # fmt: skip
def test_a_model_that_fails_is_followed_by_the_built_in_judge(
    bench: Bench, backend: str, model: FakeModel, questions: int, said: str
) -> None:
    """Whatever is wrong: few questions, the true cause in one sentence, and every pair has a verdict."""
    model.requests.clear()
    with serving(model):
        bench.policy(model.url, backend=backend)
        verdicts = bench.ask(AB, AC, BC, CD)
    assert len(model.requests) == questions
    assert [verdict.by for verdict in verdicts] == [NOBODY] * 4
    assert all(isinstance(verdict, Keep) for verdict in verdicts)
    assert bench.sat == ["embedded"]
    pattern = said.replace("SERVER", "the model's server" if backend == "openai" else "Ollama")
    assert re.match(rf"“judge\S*” {pattern}", bench.report.trouble), bench.report.trouble
    assert bench.report.trouble.endswith(FINISHED)
    assert bench.problems == []


def test_what_the_model_did_say_stands(bench: Bench) -> None:
    said = iter([KEEP, "no", DROP, "no", "no", "no"])
    with serving(FakeModel(say=lambda _: next(said))) as model:
        bench.policy(model.url)
        verdicts = bench.ask(AB, AC, BC, CD, AD, BD)
    assert len(model.requests) == 6
    assert [verdict.by for verdict in verdicts] == ["", NOBODY, "", NOBODY, NOBODY, NOBODY]


@pytest.mark.parametrize("key", ["triage_questions_per_dream: 2", "triage_questions_per_dream: 0"])
def test_a_dream_has_a_budget_of_questions(bench: Bench, key: str) -> None:
    most = int(key.rpartition(" ")[2])
    with serving(FakeModel(say=lambda _: DROP)) as model:
        bench.policy(model.url, f"- {key}")
        with bench.judge() as judge:
            assert isinstance(judge, ModelJudge)
            verdicts = [*judge.judge([AB, AC, BC]), *judge.judge([CD])]
    assert len(model.requests) == most
    assert [verdict.by for verdict in verdicts] == [""] * most + [NOBODY] * (4 - most)
    assert bench.report.trouble == (
        f"“judge” is not asked any more, because the questions that a dream may ask ({most}) are used up{FINISHED}"
    )


def test_a_dream_has_a_budget_of_time(bench: Bench) -> None:
    now_s = 0.0

    def say(_request: object) -> str:
        nonlocal now_s
        now_s += 50.0
        return KEEP

    with serving(FakeModel(say=say)) as model:
        bench.policy(model.url, "- triage_budget_s: 120")
        with bench.judge() as judge:
            assert isinstance(judge, ModelJudge)
            judge.asking.clock = lambda: now_s
            verdicts = judge.judge([AB, AC, BC, CD])
    assert len(model.requests) == 3
    assert [verdict.by for verdict in verdicts] == ["", "", "", NOBODY]
    assert "the time that a dream may ask a model for (120 s) is used up" in bench.report.trouble


def test_a_budget_that_cannot_be_read_asks_nothing(bench: Bench) -> None:
    with serving() as model:
        bench.policy(model.url, "- triage_budget_s: a while")
        with bench.judge() as judge:
            if not isinstance(judge, NoJudge):
                judge.judge([AB])
    assert model.requests == []


@pytest.mark.parametrize("backend", ["auto", "ollama", "openai"])
def test_the_time_left_is_all_that_a_question_gets(bench: Bench, backend: str) -> None:
    """A server that accepts and never answers costs a dream its budget, and no more."""
    held = threading.Event()

    def say(_request: object) -> str:
        held.wait(60)
        return KEEP

    with serving(FakeModel(say=say)) as model:
        bench.policy(model.url, "- triage_budget_s: 1", backend=backend)
        verdicts = bench.ask(AB, AC)
        held.set()
    assert len(model.requests) == 1
    assert [verdict.by for verdict in verdicts] == [NOBODY] * 2
    assert "(1 s) is used up; it had given no answer by then" in bench.report.trouble


@pytest.mark.parametrize("good", [0, 1])
def test_why_it_took_so_long_stands_beside_a_used_up_budget(bench: Bench, good: int) -> None:
    now_s = 0.0

    def refuse(_request: object) -> str:
        nonlocal now_s
        now_s += 50.0
        return "no such thing" if now_s > 50.0 * good else ""

    with serving(FakeModel(say=lambda _: KEEP, refuse=refuse)) as model:
        bench.policy(model.url, f"- triage_budget_s: {99 + 50 * good}", backend="ollama")
        with bench.judge() as judge:
            assert isinstance(judge, ModelJudge)
            judge.asking.clock = lambda: now_s
            judge.judge([AB, AC, BC, CD])
    opening = "its last questions had no answer" if good else "it had given no answer by then"
    assert f"is used up; {opening}: Ollama answered with error 400{FINISHED}" in bench.report.trouble


def test_a_model_that_only_thinks_is_told_as_one(bench: Bench) -> None:
    thought = {"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}, "finish_reason": None}]}
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    recorded = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in (thought, end))
    with serving(FakeModel(recorded=recorded)) as model:
        bench.policy(model.url, backend="openai")
        bench.ask(AB, AC, BC, CD)
    assert len(model.requests) == 3
    assert "the model thought and gave no answer; choose one that thinks less" in bench.report.trouble


@pytest.mark.parametrize("backend", ["auto", "ollama"])
def test_a_missing_ollama(bench: Bench, backend: str) -> None:
    with serving() as model:
        pass  # nobody listens there any more
    bench.policy(model.url, backend=backend)
    with bench.judge() as judge:
        if backend == "auto":
            assert bench.sat == ["embedded"]
            assert bench.report.trouble == ""  # that is no fault
        else:
            assert isinstance(judge, NoJudge)
            assert "does not answer" in judge.reason


@pytest.mark.parametrize("backend", ["auto", "ollama"])
def test_a_missing_model_says_how_to_get_it(bench: Bench, backend: str) -> None:
    with serving(FakeModel(models=[])) as model:
        bench.policy(model.url, backend=backend)
        with bench.judge() as judge:
            said = bench.report.trouble if backend == "auto" else judge.reason if isinstance(judge, NoJudge) else ""
            assert "`ollama pull judge`" in said
            assert bench.sat == (["embedded"] if backend == "auto" else [])


def test_embedded_and_off(bench: Bench) -> None:
    bench.policy("", backend="embedded")
    with bench.judge():
        assert bench.sat == ["embedded"]
    bench.policy("", backend="off")
    with bench.judge() as judge:
        assert isinstance(judge, Unjudged)
        assert judge.judge([AB]) == [Keep(0.4, "nobody judged it")]


def test_an_openai_compatible_server(bench: Bench) -> None:
    with serving() as model:
        bench.policy(model.url, backend="openai")
        assert bench.ask(AB) == [KEPT]
        bench.policy("", backend="openai")
        with bench.judge() as judge:
            assert judge == NoJudge("`triage_backend: openai`: the server is not asked: `triage_url` is empty")


@pytest.mark.parametrize("backend", ["auto", "ollama", "openai"])
@pytest.mark.parametrize(
    ("allowed", "confirmed", "why"),
    [
        (False, False, "the policy does not say `allow_remote_triage: on`"),
        (False, True, "the policy does not say `allow_remote_triage: on`"),
        (True, False, "nobody confirmed on this one that text may leave it"),
    ],
)
def test_another_machine_is_refused(
    bench: Bench, backend: str, allowed: bool, confirmed: bool, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.create_connection", lambda *_a, **_k: pytest.fail("it connected"))
    bench.policy("http://203.0.113.9:11434", *["- allow_remote_triage: on"] * allowed, backend=backend)
    if confirmed:
        write_consent(bench.places.state, AT)
    with bench.judge() as judge:
        said = bench.report.trouble if backend == "auto" else judge.reason if isinstance(judge, NoJudge) else ""
        assert why in said
        assert bench.sat == (["embedded"] if backend == "auto" else [])


@contextmanager
def elsewhere(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModel]:
    """A judge on another machine, as far as the gate can tell, reached through a proxy on this one."""
    with serving() as model:
        monkeypatch.setenv("http_proxy", model.url)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        write_consent(bench.places.state, AT)
        yield model


def test_to_another_machine_only_excerpts_leave_and_each_is_logged(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("Diary.md", "#private What nobody reads but me.\n")
    bench.write("A.md", "---\nmood: hidden\n---\nA, see [[Diary]]; mail me@example.org. %% aside %%\n")
    with elsewhere(bench, monkeypatch) as model:
        model.say = lambda _request: KEEP
        bench.policy("http://203.0.113.9", "- allow_remote_triage: on")
        monkeypatch.setattr("tests.model_servers._Handler.do_GET", _tags)
        monkeypatch.setattr("tests.model_servers._Handler.do_POST", _chat)
        (verdict,) = bench.ask(AB)
        private, other = bench.ask(juxtaposition("Diary", "B"), AC)
    assert verdict == KEPT
    assert other == KEPT
    assert isinstance(private, Unreadable)
    assert "private" in private.reason
    assert len(model.requests) == 2
    told = "\n".join(model.prompts)
    assert not [word for word in ("Diary", "nobody reads", "me@example.org", "hidden", "aside") if word in told]
    records = [json.loads(line) for line in (bench.places.state / EGRESS).read_text().splitlines()]
    assert [record["destination"] for record in records] == ["http://203.0.113.9:80"] * 2
    assert all(len(record["excerpts"]) == 3 for record in records)
    assert records[0]["blanked"] == {"e-mail": 1, "private note": 1}


def _tags(self: Any) -> None:
    self._whole(200, {"models": self.model.models})


def _chat(self: Any) -> None:
    request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
    self.model.requests.append(request)
    self._ollama(request)


def test_the_gate_of_a_judge_is_that_of_the_policy(bench: Bench) -> None:
    with serving() as model:
        bench.policy(model.url)
        with bench.judge() as judge:
            assert isinstance(judge, ModelJudge)
            assert isinstance(judge.gate, Gate)
            assert (judge.gate.allowed, judge.gate.purpose) == (False, "triage")
