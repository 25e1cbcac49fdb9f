"""Who judges a consolidation: once a pair, kept by content, retried once, whole or not at all, private where remote."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.gate.consent import write_consent
from aria_dream.adapters.gate.egress import EGRESS
from aria_dream.adapters.index.cache_store import ContentCache
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.models.asking import FAILURES_BORNE
from aria_dream.adapters.models.model_consolidation_judge import ModelConsolidationJudge
from aria_dream.adapters.models.model_judge import JudgeReport
from aria_dream.consolidate.verdict import (
    BothValid,
    Conflict,
    Escalated,
    KeepA,
    KeepB,
    Merge,
    NearPair,
    NeedsHuman,
    Normalize,
    NotDuplicate,
    Unreadable,
)
from aria_dream.usecases.consolidation_judge import (
    BuiltInConsolidationJudge,
    NoConsolidationJudge,
    open_consolidation_judge,
)
from tests.atoms import passage
from tests.model_servers import FakeModel, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.consolidate.passages import Passage
    from aria_dream.consolidate.verdict import ConsolidationJudge, PairVerdict

MERGE = '{"reason": "both say that the heap is fed", "verdict": "merge", "confidence": 0.93, "wording": ""}'
KEEP_A = '{"reason": "its source is named", "verdict": "keep_a", "confidence": 0.9}'
KEEP_B = '{"reason": "its source is named", "verdict": "keep_b", "confidence": 0.8}'
TODAY = date(2026, 11, 30)
NOTES = {
    "A.md": "The heap is fed once a week, says SECRET-A. %% aside %%\n",
    "B.md": "Once a week the heap is fed, says SECRET-B.\n",
    "C.md": "The heap is fed twice a week, says SECRET-C.\n",
}


class Bench:
    """A vault with three notes, its policy, and the counsel that opens over it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.places = Places(state=folder / "state", cache=folder / "cache")
        self.root.mkdir()
        for name, text in NOTES.items():
            self.write(name, text)
        self.problems: list[str] = []
        self.report = JudgeReport()

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text, encoding="utf-8")

    def policy(self, url: str, *more: str, backend: str = "ollama") -> None:
        key = "triage_url" if backend == "openai" else "ollama_url"
        lines = [f"- triage_backend: {backend}", "- triage_model: judge", f"- {key}: {url}", *more]
        self.write("dreaming.md", "---\naria-dream: policy\n---\n" + "\n".join(lines) + "\n")

    def vault(self) -> DreamtVault:
        return read_dreamt_vault(self.root, self.places, environ={})

    def passage(self, name: str) -> Passage:
        return passage(f"{name}.md", (self.root / f"{name}.md").read_text("utf-8"))

    def pair(self, first: str, second: str) -> NearPair:
        return NearPair(first=self.passage(first), second=self.passage(second), cosine=0.95, overlap=0.9, rank=1)

    def conflict(self, first: str, second: str) -> Conflict:
        one, two = self.passage(first), self.passage(second)
        return Conflict(
            first=one,
            second=two,
            subject="heap fed",
            first_claim=one.text.split(" %%")[0].strip(),
            second_claim=two.text.split(" %%")[0].strip(),
            signals=("subject", "number"),
        )

    @contextmanager
    def consolidation_judge(self, *, today: date = TODAY) -> Iterator[ConsolidationJudge | NoConsolidationJudge]:
        vault = self.vault()
        with ContentCache(self.places.vault_cache(vault.root)) as cache:
            yield open_consolidation_judge(
                vault,
                cache,
                self.places.state,
                today=today,
                compare=embedded_compare,
                problems=self.problems,
                report=self.report,
            )

    @contextmanager
    def model_counsel(self, *, today: date = TODAY) -> Iterator[ModelConsolidationJudge]:
        with self.consolidation_judge(today=today) as consolidation_judge:
            assert isinstance(consolidation_judge, ModelConsolidationJudge), consolidation_judge
            yield consolidation_judge


def embedded_compare(_pair: NearPair) -> PairVerdict:
    return Escalated(reason="the built-in judge does not say")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def answers(*said: str) -> Callable[[dict[str, Any]], str]:
    left = iter(said)
    return lambda _request: next(left)


def test_a_pair_and_a_conflict_are_asked_with_what_they_need(bench: Bench) -> None:
    with serving(FakeModel(say=answers(MERGE, KEEP_A, KEEP_B))) as model:
        bench.policy(model.url)
        with bench.model_counsel() as consolidation_judge:
            assert consolidation_judge.name == "judge"
            assert consolidation_judge.tokens == 0
            pair = consolidation_judge.compare(bench.pair("A", "B"))
            assert consolidation_judge.tokens == 930  # as the server counts them: prompt and answer
            conflict = consolidation_judge.resolve(bench.conflict("A", "C"), "(a) names as source: EVIDENCE-E")
            assert consolidation_judge.tokens == 3 * 930
    assert pair == Merge(reason="both say that the heap is fed", confidence=0.93)
    assert conflict == KeepA(reason="its source is named", confidence=0.8)  # the lower of the two
    first, second, third = model.prompts
    assert "(a) names as source: EVIDENCE-E" in second
    assert "(b) names as source: EVIDENCE-E" in third
    assert second.index("SECRET-A") < second.index("SECRET-C")
    assert third.index("SECRET-C") < third.index("SECRET-A")
    assert all(word in first for word in ("SECRET-A", "SECRET-B", "Title: A", "Title: B"))
    assert all(word in second for word in ("SECRET-A", "SECRET-C", "EVIDENCE-E"))
    assert "aside" not in first + second
    assert model.requests[0]["format"]["properties"]["verdict"]["enum"] == ["merge", "not_duplicate", "normalize"]
    assert list(model.requests[0]["format"]["properties"]) == ["reason", "verdict", "confidence", "wording"]
    assert list(model.requests[1]["format"]["properties"]) == ["reason", "verdict", "confidence"]
    nonces = [set(re.findall("<<<data ([0-9a-f]+)>>>", prompt)) for prompt in model.prompts]
    assert [len(each) for each in nonces] == [1, 1, 1]
    assert len(set.union(*nonces)) == 3


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("not_duplicate", NotDuplicate(reason="why", confidence=0.5)),
        ("MERGE ", Merge(reason="why", confidence=0.5)),
        ("normalize", Normalize(reason="why", confidence=0.5, wording="The heap is fed once a week.")),
    ],
)
def test_every_verdict_on_a_pair(bench: Bench, said: str, expected: PairVerdict) -> None:
    reply = json.dumps(
        {"reason": "why", "verdict": said, "confidence": 0.5, "wording": "The heap is fed once a week.\r\n"}
    )
    with serving(FakeModel(say=lambda _: reply)) as model:
        bench.policy(model.url)
        for _ in range(2):  # the second comes from the cache, and in the other direction too
            with bench.model_counsel() as consolidation_judge:
                assert consolidation_judge.compare(bench.pair("A", "B")) == expected
                assert consolidation_judge.compare(bench.pair("B", "A")) == expected
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("said", "expected", "turned"),
    [
        ("keep_a", KeepA, KeepB),
        ("keep_b", KeepB, KeepA),
        ("both_valid", BothValid, BothValid),
        ("needs_human", NeedsHuman, NeedsHuman),
    ],
)
def test_every_verdict_on_a_conflict(bench: Bench, said: str, expected: type[Any], turned: type[Any]) -> None:
    other = {"keep_a": "keep_b", "keep_b": "keep_a"}.get(said, said)

    def say(request: dict[str, Any]) -> str:
        user = request["messages"][1]["content"]
        verdict = said if user.index("SECRET-A") < user.index("SECRET-C") else other
        return json.dumps({"reason": "why", "verdict": verdict, "confidence": 1})

    asked = 2 if said.startswith("keep") else 1
    with serving(FakeModel(say=say)) as model:
        bench.policy(model.url)
        with bench.model_counsel() as consolidation_judge:
            assert consolidation_judge.resolve(bench.conflict("A", "C"), "none") == expected(
                reason="why", confidence=1.0
            )
        with bench.model_counsel() as consolidation_judge:
            # Asked the other way round, the kept claim is the same one.
            assert consolidation_judge.resolve(bench.conflict("C", "A"), "none") == turned(reason="why", confidence=1.0)
            assert len(model.requests) == asked
            consolidation_judge.resolve(bench.conflict("A", "C"), "other evidence")
            assert len(model.requests) == 2 * asked


@pytest.mark.parametrize("said", [KEEP_A, KEEP_B])
def test_a_model_that_keeps_whichever_stands_first_decides_nothing(bench: Bench, said: str) -> None:
    with serving(FakeModel(say=lambda _: said)) as model:
        bench.policy(model.url)
        with bench.model_counsel() as consolidation_judge:
            verdict = consolidation_judge.resolve(bench.conflict("A", "C"), "none")
            assert isinstance(verdict, NeedsHuman)
            assert "the other way round" in verdict.reason
            assert consolidation_judge.resolve(bench.conflict("C", "A"), "none") == verdict
    assert len(model.requests) == 2


def test_a_verdict_stands_until_passage_prompt_or_model_changes(bench: Bench) -> None:
    with serving(FakeModel(say=lambda _: MERGE)) as model:
        bench.policy(model.url)

        def asked() -> int:
            with bench.model_counsel() as consolidation_judge:
                consolidation_judge.compare(bench.pair("A", "B"))
            return len(model.requests)

        assert asked() == 1
        assert asked() == 1
        bench.write("A.md", "The heap is fed once a day.\n")
        assert asked() == 2
        model.models[0]["digest"] = "other"
        assert asked() == 3


def test_a_verdict_goes_when_its_note_becomes_invisible(bench: Bench) -> None:
    with serving(FakeModel(say=lambda _: MERGE)) as model:
        bench.policy(model.url)
        with bench.model_counsel() as consolidation_judge:
            consolidation_judge.compare(bench.pair("A", "B"))
        bench.policy(model.url, "- exclude: B.md")
        with bench.consolidation_judge():
            kept = b"".join(path.read_bytes() for path in bench.places.cache.rglob("cache.sqlite3"))
        assert b"the heap is fed" not in kept


@pytest.mark.parametrize(
    "broken",
    [
        "no idea",
        '{"reason": "a", "verdict": "merge", "confidence": 2, "wording": ""}',
        '{"reason": "a", "verdict": "merge", "confidence": true, "wording": ""}',
        '{"reason": "a", "verdict": "merge", "confidence": "0.9", "wording": ""}',
        '{"reason": "", "verdict": "merge", "confidence": 0.9, "wording": ""}',
        '{"reason": "a", "verdict": "delete", "confidence": 0.9, "wording": ""}',
        '{"reason": "a", "verdict": "merge"}',
        '{"reason": "a", "verdict": "merge", "confidence": 0.9, "wording": "", "path": "B.md"}',
        '{"reason": "a", "verdict": "normalize", "confidence": 0.9, "wording": ""}',
        '{"reason": "a", "verdict": "normalize", "confidence": 0.9, "wording": "See [[Passwords]]."}',
    ],
)
def test_what_cannot_be_read_is_never_guessed_at_nor_asked_again_that_day(bench: Bench, broken: str) -> None:
    with serving(FakeModel(say=lambda _: broken)) as model:
        bench.policy(model.url)
        with bench.model_counsel() as consolidation_judge:
            assert isinstance(consolidation_judge.compare(bench.pair("A", "C")), Unreadable)
            assert isinstance(consolidation_judge.compare(bench.pair("A", "C")), Unreadable)
    assert len(model.requests) == 1


def test_what_is_too_long_is_left_for_a_person_and_not_cut(bench: Bench) -> None:
    bench.write("A.md", "The heap is fed. " * 1_000)
    with serving(FakeModel(say=lambda _: MERGE)) as model:
        bench.policy(model.url)
        with bench.model_counsel() as consolidation_judge:
            verdict = consolidation_judge.compare(bench.pair("A", "B"))
            assert isinstance(verdict, Escalated)
            assert "too long" in verdict.reason
            # Of a claim only what stands around it is shown, so its passage may be of any length.
            assert not isinstance(consolidation_judge.resolve(bench.conflict("B", "C"), "none"), Escalated)
    assert len(model.requests) == 1  # an answer to a pair is none to a conflict


def test_a_server_that_fails_is_left_alone(bench: Bench) -> None:
    with serving(FakeModel(status=400, error="no")) as model:
        bench.policy(model.url)
        with bench.model_counsel() as consolidation_judge:
            pairs = [("A", "B"), ("A", "C"), ("B", "C")]
            verdicts = [consolidation_judge.compare(bench.pair(*pair)) for pair in pairs]
            verdicts.append(consolidation_judge.compare(bench.pair("C", "A")))
            assert consolidation_judge.hindrance == "“judge” is not asked any more: Ollama answered with error 400"
    assert all(isinstance(verdict, Unreadable) for verdict in verdicts)
    assert len(model.requests) == FAILURES_BORNE
    assert bench.report.trouble == "“judge” gave no answer 3 times in a row: Ollama answered with error 400"


def test_a_busy_server_has_one_more_try(bench: Bench) -> None:
    with serving(FakeModel(say=lambda _: MERGE, fail_first=1)) as model:
        bench.policy(model.url)
        with bench.model_counsel() as consolidation_judge:
            assert isinstance(consolidation_judge.compare(bench.pair("A", "B")), Merge)
            assert consolidation_judge.tokens > 930  # the question that failed was sent too


def test_auto_gives_way_to_the_judge_inside_and_says_why(bench: Bench) -> None:
    with serving(FakeModel(status=404)) as model:
        bench.policy(model.url, backend="auto")
        with bench.model_counsel() as consolidation_judge:
            assert consolidation_judge.compare(bench.pair("A", "B")) == embedded_compare(bench.pair("A", "B"))
            assert consolidation_judge.name == "embedded judge"
            assert isinstance(consolidation_judge.resolve(bench.conflict("A", "C"), "none"), Escalated)
    assert bench.report.trouble == (
        "“judge” did not answer: Ollama no longer has this model; the built-in judge finished the night"
    )


@pytest.mark.parametrize("backend", ["auto", "ollama"])
def test_a_night_has_a_budget_of_time(bench: Bench, backend: str) -> None:
    now_s = 0.0

    def say(_request: object) -> str:
        nonlocal now_s
        now_s += 50.0
        return MERGE

    with serving(FakeModel(say=say)) as model:
        bench.policy(model.url, "- time_budget_per_night_s: 60", backend=backend)
        with bench.model_counsel() as consolidation_judge:
            consolidation_judge.asking.clock = lambda: now_s
            verdicts = [consolidation_judge.compare(bench.pair(*two)) for two in ("AB", "AC", "BC")]
            told = consolidation_judge.hindrance
    assert len(model.requests) == 2
    assert [*map(type, verdicts)] == [Merge, Merge, Escalated if backend == "auto" else Unreadable]
    assert ("(60 s) is used up" in told) == (backend == "ollama")
    assert "(60 s) is used up" in bench.report.trouble


@pytest.mark.parametrize("backend", ["auto", "ollama", "embedded", "off"])
def test_without_a_server(bench: Bench, backend: str) -> None:
    with serving() as model:
        pass  # nobody listens there any more
    bench.policy(model.url, backend=backend)
    with bench.consolidation_judge() as consolidation_judge:
        if backend in ("auto", "embedded"):
            assert isinstance(consolidation_judge, BuiltInConsolidationJudge)
            assert (consolidation_judge.name, consolidation_judge.tokens) == ("embedded judge", 0)
            assert isinstance(consolidation_judge.resolve(bench.conflict("A", "C"), "none"), Escalated)
            assert isinstance(consolidation_judge.compare(bench.pair("A", "B")), Escalated)
        else:
            assert isinstance(consolidation_judge, NoConsolidationJudge)
            assert backend in consolidation_judge.reason
    assert bench.problems == []


def test_an_openai_compatible_server_is_given_room_for_a_wording(bench: Bench) -> None:
    with serving(FakeModel(say=lambda _: MERGE)) as model:
        bench.policy(model.url, backend="openai")
        with bench.model_counsel() as consolidation_judge:
            assert isinstance(consolidation_judge.compare(bench.pair("A", "B")), Merge)
            assert consolidation_judge.tokens == 930
    assert model.requests[0]["max_tokens"] == 1_200


def test_another_machine_is_refused(bench: Bench) -> None:
    bench.policy("http://203.0.113.9:11434")
    with bench.consolidation_judge() as consolidation_judge:
        assert isinstance(consolidation_judge, NoConsolidationJudge)
        assert "another machine" in consolidation_judge.reason


def test_to_another_machine_only_excerpts_leave_and_each_is_logged(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("Diary.md", "#private The heap is fed by nobody but me.\n")
    bench.write("Tagged.md", "---\ntags: [private]\n---\nThe heap is fed.\n")
    bench.write("A.md", "The heap is fed once a week, see [[Diary]]; mail me@example.org. %% aside %%\n")
    monkeypatch.setattr("tests.model_servers._Handler.do_GET", _tags)
    monkeypatch.setattr("tests.model_servers._Handler.do_POST", _chat)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    write_consent(bench.places.state, datetime(2026, 11, 30, tzinfo=UTC))
    with serving(FakeModel(say=answers(MERGE, KEEP_A, KEEP_B))) as model:
        monkeypatch.setenv("http_proxy", model.url)
        bench.policy("http://203.0.113.9", "- allow_remote_triage: on")
        with bench.model_counsel() as consolidation_judge:
            assert isinstance(consolidation_judge.compare(bench.pair("A", "B")), Merge)
            assert isinstance(
                consolidation_judge.resolve(bench.conflict("A", "C"), "A: linked from Diary, 2026"), KeepA
            )
            for name in ("Diary", "Tagged"):  # the second as a section that shows nothing of the note's tags
                one = passage(f"{name}.md", "The heap is fed.\n", (name,))
                pair = NearPair(first=one, second=bench.passage("B"), cosine=1.0, overlap=1.0, rank=1)
                verdict = consolidation_judge.compare(pair)
                assert isinstance(verdict, Escalated)
                assert "private" in verdict.reason
    assert len(model.requests) == 3
    told = "\n".join(model.prompts)
    assert not [word for word in ("Diary", "nobody", "me@example.org", "aside") if word in told]
    records = [json.loads(line) for line in (bench.places.state / EGRESS).read_text().splitlines()]
    assert [(record["purpose"], len(record["excerpts"])) for record in records] == [
        ("consolidation", 2),
        ("consolidation", 3),
        ("consolidation", 3),
    ]


def _tags(self: Any) -> None:
    self._whole(200, {"models": self.model.models})


def _chat(self: Any) -> None:
    request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
    self.model.requests.append(request)
    self._ollama(request)


def test_an_ejected_prompt_counts_and_a_broken_one_is_told(bench: Bench) -> None:
    for folder in ("dreams", "dreams/prompts"):
        (bench.root / folder).mkdir()
    bench.write("dreams/Dream review.md", "---\naria-dream: review\n---\n")
    bench.write("dreams/prompts/consolidate-duplicates.md", "Placement: system\n\n## Request\n\n{{note_a}}\n")
    with serving(FakeModel(say=lambda _: MERGE)) as model:
        bench.policy(model.url)
        with bench.model_counsel() as consolidation_judge:
            assert isinstance(consolidation_judge.compare(bench.pair("A", "B")), Merge)
    assert "You judge whether two passages" in model.prompts[0]
    assert any("`{{note_b}}` is missing" in problem for problem in bench.problems)
