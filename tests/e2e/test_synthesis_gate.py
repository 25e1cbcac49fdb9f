"""What becomes a lesson, on memories as people keep them: one folder a case, one night each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.test_synthesis import run

MEMORIES = Path(__file__).resolve().parents[1] / "fixtures" / "memories"


def lay(vault: Path, source: Path) -> None:
    """The memory of a case over what the vault has: a `memory/` folder, the files of one, or a session log."""
    target = vault / "memory"
    if (source / "memory").is_dir():
        source = source / "memory"
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target / "SESSION_LOG.md")


def nights(vault: Path, *sources: Path) -> list[str]:
    """One synthesis after each source is laid; the lessons' texts."""
    vault.mkdir(exist_ok=True)
    for number, source in enumerate(sources):
        lay(vault, source)
        if number == 0:
            run("init", vault, "--memory")
        run("synthesize", vault)
    return lessons(vault)


def lessons(vault: Path) -> list[str]:
    rows = (vault / "memory" / "runtime" / "LESSONS.jsonl").read_text("utf-8").splitlines()
    return [json.loads(row)["lesson"] for row in rows]


def log_of(vault: Path) -> str:
    return (vault / "memory" / "DREAM_LOG.md").read_text("utf-8")


def set_key(vault: Path, was: str, is_: str) -> None:
    policy = vault / "dreaming.md"
    text = policy.read_text("utf-8")
    assert was in text
    policy.write_text(text.replace(was, is_), "utf-8")


def written(folder: Path, first: str, second: str, *, later: str = "2026-11-25") -> Path:
    """A memory of one capsule of 20 November and one line of the session log."""
    (folder / "capsules").mkdir(parents=True)
    head = "---\nid: 2026-11-20-a\ncreated_at: 2026-11-20T18:00:00+00:00\n---\n\n"
    (folder / "capsules" / "2026-11-20-a.md").write_text(f"{head}- {first}\n", "utf-8")
    (folder / "SESSION_LOG.md").write_text(f"# Session log\n\n## {later} Later\n- {second}\n", "utf-8")
    return folder


@pytest.mark.parametrize(
    "case",
    sorted(
        path.relative_to(MEMORIES).as_posix()
        for kind in ("B-syn-01", "B-syn-02", "B-syn-06", "B-syn-07", "B-syn-10")
        for path in (MEMORIES / kind).iterdir()
    ),
)  # fmt: skip
def test_what_is_no_lesson(tmp_path: Path, case: str) -> None:
    assert nights(tmp_path / "vault", MEMORIES / case) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Waxing the sole made the plane glide better.", "Waxing the sole made the plane glide worse."),
        ("The glue holds when the joint is clamped.", "The glue does not hold when the joint is clamped."),
        ("Always oil the saw before the winter comes.", "Never oil the saw before the winter comes."),
        ("The finish cures in 12 hours when the shop is warm.", "The finish cures in 36 hours when the shop is warm."),
        ("The shop in Basel flooded because of its gutter.", "The shop in Bern flooded because of its gutter."),
        ("The class prefers chisels over knives for joints.", "The class prefers knives over chisels for joints."),
        ("Der Leim hält, wenn die Fuge vorher erwärmt wird.", "Der Leim hält, wenn die Fuge nachher erwärmt wird."),
        ("La colle rend le joint plus rapide à faire.", "La colle rend le joint plus lent à faire."),
        ("预热胶水让接缝更快干", "预热胶水让接缝更慢干"),
    ],
)  # fmt: skip
def test_opposites_are_no_pattern(tmp_path: Path, first: str, second: str) -> None:
    assert nights(tmp_path / "vault", written(tmp_path / "memory", first, second)) == []


def test_two_independent_events_are_one(tmp_path: Path) -> None:
    source = written(
        tmp_path / "memory", "The blade chattered because the chip breaker was loose.",
        "The chip breaker had come loose and so the blade chattered.",
    )  # fmt: skip
    assert len(nights(tmp_path / "vault", source)) == 1


@pytest.mark.parametrize("words", ["Yesterday the", "As the capsule says, the", "On Friday the", "Recap: the"])
def test_a_retelling_is_no_second_event(tmp_path: Path, words: str) -> None:
    source = written(
        tmp_path / "memory", "The blade chattered because the chip breaker was loose.",
        f"{words} blade chattered because the chip breaker had come loose.", later="2026-11-21",
    )  # fmt: skip
    assert nights(tmp_path / "vault", source) == []


@pytest.mark.parametrize("case", ["line-ref-collision", "doctrine-twice"])
def test_a_directive_is_known_by_its_words(tmp_path: Path, case: str) -> None:
    folder = MEMORIES / "B-syn-03" / case
    taught = nights(tmp_path / "vault", folder / "night1.md", folder / "night2.md")
    assert len(taught) == {"line-ref-collision": 2, "doctrine-twice": 1}[case]


def test_a_gap_is_known_by_its_words(tmp_path: Path) -> None:
    folder = MEMORIES / "B-syn-03" / "candidate-collision"
    nights(tmp_path / "vault", folder / "night1", folder / "night2")
    assert log_of(tmp_path / "vault").count("**operator gate:**") == 2


def test_its_own_log_is_no_source(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    nights(vault, MEMORIES / "B-syn-04" / "own-log-as-source")
    assert (vault / "memory" / "DREAM_LOG.md").is_file(), "a folder of dated notes is the memory"
    set_key(vault, "session_log_path: SESSION_LOG.md", "session_log_path: memory")
    shutil.copyfile(vault / "memory" / "DREAM_LOG.md", vault / "memory" / "old log.md")
    before = lessons(vault)
    for _ in range(3):
        run("synthesize", vault)
    assert lessons(vault) == before
    assert "DREAM_LOG.md" not in log_of(vault)
    assert "old log.md" not in log_of(vault)


def test_a_quiet_night_is_a_few_words(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    nights(vault, MEMORIES / "B-syn-01" / "f10-works")
    sizes = []
    for _ in range(3):
        before = len(log_of(vault))
        run("synthesize", vault)
        sizes.append(len(log_of(vault)) - before)
    assert max(sizes) < 420
    assert "as before" in log_of(vault)


def test_no_secret_and_no_order_reaches_the_log(tmp_path: Path) -> None:
    for case, word in (("q3-secret", "sk-live-4f9a8b7c6d5e4f3a2b1c"), ("q4-injection", "previous instructions")):
        vault = tmp_path / case
        nights(vault, MEMORIES / "B-syn-07" / case)
        assert word not in log_of(vault)


def test_a_named_person_may_direct(tmp_path: Path) -> None:
    first, second = "Lea said: always ask which Anna is meant before sending anything.", (
        "Outcome: asked which Anna was meant before sending, and the message reached the right person.")  # fmt: skip
    vault = tmp_path / "vault"
    source = written(tmp_path / "memory", first, second)
    lay(vault, source)
    run("init", vault, "--memory")
    set_key(vault, "operators: operator, user, human", "operators: Lea, operator")
    run("synthesize", vault)
    (row,) = (vault / "memory" / "runtime" / "LESSONS.jsonl").read_text("utf-8").splitlines()
    assert json.loads(row)["type"] == "doctrine"


def test_the_contract_compares_log_and_rows(tmp_path: Path) -> None:
    vault, snapshot = tmp_path / "vault", tmp_path / "snapshot.json"
    lay(vault, MEMORIES / "B-syn-03" / "candidate-collision" / "night1")
    run("init", vault, "--memory")
    run("contract", "snapshot", vault, "--out", snapshot)
    run("synthesize", vault)
    rows = vault / "memory" / "runtime" / "LESSONS.jsonl"
    good, log = rows.read_text("utf-8"), log_of(vault)
    check = ("contract", "check", vault, "--snapshot", snapshot)
    run(*check)
    block = log[log.index("### ni-") :]
    for text, entry in (
        ("", log), (good.replace('"type"', '"status":"approved","type"'), log),
        (good.replace('"type"', '"type":"doctrine","type"'), log), (good, log.replace(block, "")),
        (good, log.replace("**Lessons extracted:** l001", "**Lessons extracted:** None")),
        (good.replace("SESSION_LOG.md", "GONE.md"), log),
    ):  # fmt: skip
        rows.write_text(text, "utf-8")
        (vault / "memory" / "DREAM_LOG.md").write_text(entry, "utf-8")
        assert "DREAM_CONTRACT FAIL" in run(*check, code=1)


def test_an_unreadable_policy_hides_no_memory(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    lay(vault, MEMORIES / "B-syn-02" / "r2-nextday-recap")
    run("init", vault)
    (vault / "dreaming.md").unlink()
    run("init", vault, "--memory")
    assert (vault / "memory" / "DREAM_LOG.md").is_file()
    assert not (vault / "vault").exists()
