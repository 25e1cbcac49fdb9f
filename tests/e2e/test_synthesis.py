"""`synthesize` and `contract` as they are run: the example memory, a quiet day, decisions, and everything refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.cli import main
from aria_dream.errors import MissingPartError, WriteRefusedError
from aria_dream.policy.policy import Policy
from aria_dream.synthesis.contract import Verdict, check
from aria_dream.synthesis.log_text import LABELS, find_candidates, find_sections, section_labels, visible
from aria_dream.usecases.synthesis import SynthesisRequest, run_synthesis, synthesis_lock

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLE = REPOSITORY / "examples" / "memory"
HEAD = "---\naria-dream: synthesis\n---\n\n# Dream log\n"


def run(*words: object, code: int = 0) -> str:
    """What a command prints (stdout and stderr); it must end with `code`."""
    done = CliRunner().invoke(main, [str(word) for word in words], prog_name="aria-dream")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        code_found = getattr(done.exception, "exit_code", None)
        assert code_found == code, done.exception
        return f"{done.output}Error: {done.exception}"
    assert done.exit_code == code, done.output
    return done.output


def process(*words: object) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "aria_dream", *map(str, words)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8"},
        check=False,
        timeout=120,
    )


def held(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def today() -> str:
    return f"{datetime.now().astimezone():%Y-%m-%d}"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A vault that keeps the example memory."""
    shutil.copytree(EXAMPLE, tmp_path / "vault" / "memory")
    return tmp_path / "vault"


@pytest.fixture
def quiet(tmp_path: Path) -> Path:
    """A memory of a day on which nothing repeats."""
    place = tmp_path / "quiet" / "vault" / "memory" / "SESSION_LOG.md"
    place.parent.mkdir(parents=True)
    place.write_text("# Session log\n\n## 2026-11-29\n\n- The pump was mended with a part from the shed.\n", "utf-8")
    return tmp_path / "quiet"


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedding model is missing: quicker, and a case of its own."""

    class Missing:
        name, dim = "none", 1

        def encode(self, _texts: object) -> object:
            raise MissingPartError("the embedding model is missing")

    monkeypatch.setattr("aria_dream.cli.synthesize.load_embedder", Missing)


def rows(vault: Path) -> list[dict[str, Any]]:
    path = next(vault.rglob("LESSONS.jsonl"))
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def log_of(vault: Path) -> str:
    return next(vault.rglob("DREAM_LOG.md")).read_bytes().decode()


def test_the_example_memory(vault: Path, tmp_path: Path) -> None:
    """At least one lesson of each kind and a candidate; then, told nothing new, a quiet day."""
    before, snapshot = held(vault), tmp_path / "before.json"
    assert "DREAM_SNAPSHOT" in run("contract", "snapshot", vault, "--out", snapshot)
    assert held(vault) == before
    said = run("synthesize", vault, "--evidence", vault / "memory" / "evidence.jsonl")
    last = said.strip().splitlines()[-1]
    found = re.fullmatch(r"DREAM PASS date=(\S+) sources=(\d+) lessons=(\d+) candidates=(\d+)", last)
    assert found is not None, last
    assert found[1] == today()
    assert int(found[2]) == 40
    new = rows(vault)[3:]
    assert {row["admission"]["kind"] for row in new} == {"two-source", "operator-outcome", "mechanical-red-green"}
    assert [row["lesson_id"] for row in new] == [f"l{number:03d}" for number in range(3, 3 + len(new))]
    assert int(found[3]) == len(new)
    candidates = find_candidates(visible(log_of(vault)))
    assert len(candidates) == int(found[4]) >= 1
    assert {candidate.first("status") for candidate in candidates} == {"proposed"}
    checked = run("contract", "check", vault, "--snapshot", snapshot)
    assert checked.strip() == (
        f"DREAM_CONTRACT PASS date={today()} lessons_added={len(new)} candidates={len(candidates)} failures=none"
    )
    after = held(vault)
    assert {path: data for path, data in after.items() if path in before and "LESSONS" not in path} == {
        path: data for path, data in before.items() if "LESSONS" not in path
    }
    assert set(after) - set(before) == {"memory/DREAM_LOG.md"}
    assert after["memory/runtime/LESSONS.jsonl"].startswith(before["memory/runtime/LESSONS.jsonl"])
    for row in new:
        for ref in row["source_events"]:
            path, _, line = ref.partition("#")[0].rpartition(":")
            if path.startswith("memory/"):
                assert (vault / path).read_text("utf-8").splitlines()[int(line) - 1].strip()
    first = log_of(vault)
    again = run("synthesize", vault, "--window", "nightly", "--evidence", vault / "memory" / "evidence.jsonl")
    assert again.strip().splitlines()[-1].endswith("lessons=0 candidates=0")
    assert log_of(vault).startswith(first)
    assert "(nightly, " in log_of(vault)[len(first) :]
    assert held(vault)["memory/runtime/LESSONS.jsonl"] == after["memory/runtime/LESSONS.jsonl"]
    run("contract", "check", vault, "--snapshot", snapshot)


@pytest.mark.clocks
def test_a_quiet_day(quiet: Path) -> None:
    assert run("synthesize", quiet).strip().splitlines()[-1] == (
        f"DREAM PASS date={today()} sources=1 lessons=0 candidates=0"
    )
    text = log_of(quiet)
    assert text.startswith(HEAD)
    (section,) = find_sections(visible(text))
    assert section_labels(section.body) == dict.fromkeys(LABELS, True)
    assert "- **Lessons extracted:** No lessons extracted this pass\n" in text
    assert "- **Improvement candidates proposed:** None\n" in text
    assert held(quiet)["vault/memory/runtime/LESSONS.jsonl"] == b""


@pytest.mark.usefixtures("no_model")
def test_without_the_model_the_entry_says_so(vault: Path) -> None:
    said = run("synthesize", vault, "--evidence", vault / "memory" / "evidence.jsonl")
    assert "the embedding model is missing" in said
    assert "the embedding model is missing" in log_of(vault)
    assert [row["admission"]["kind"] for row in rows(vault)[3:]] == ["mechanical-red-green"]


@pytest.mark.parametrize("names", [[], ["a.md"], ["memory/a.md"], ["vault/memory/note.md", "memory.md"]])
def test_a_vault_without_a_memory_is_told_so(tmp_path: Path, names: list[str]) -> None:
    vault = tmp_path / "v"
    vault.mkdir()
    for name in names:
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text("a writer's own\n", "utf-8")
    before = held(vault)
    assert "keeps no memory" in run("synthesize", vault)
    assert "DREAM PASS" not in run("synthesize", vault, "--window", "nightly")
    assert json.loads(run("synthesize", vault, "--json"))["written"] is False
    decide = ("--set-status", "ni-20261130-01", "approved", "--operator-evidence", "chat of 2026-11-30")
    run("synthesize", vault, *decide, code=4)
    run("contract", "snapshot", vault, "--out", tmp_path / "s.json", code=2)
    assert held(vault) == before
    assert not (tmp_path / "s.json").exists()


@pytest.mark.parametrize(
    ("names", "folder"),
    [([], "memory"), (["vault/x.md"], "vault/memory"), (["memory/mine.md"], "vault/memory"),
     (["memory/SESSION_LOG.md"], "memory"), (["vault/memory/capsules/c.md", "memory/mine.md"], "vault/memory")],
)  # fmt: skip
def test_init_makes_a_memory(tmp_path: Path, names: list[str], folder: str) -> None:
    vault = tmp_path / "v"
    vault.mkdir()
    for name in names:
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text("mine\n", "utf-8")
    rehearsed = json.loads(run("init", vault, "--memory", "--dry-run", "--json"))["created"]
    made = json.loads(run("init", vault, "--memory", "--json"))["created"]
    assert rehearsed == made
    assert {f"{folder}/DREAM_LOG.md", f"{folder}/runtime/LESSONS.jsonl"} <= set(made)
    assert (vault / folder / "DREAM_LOG.md").read_text("utf-8") == HEAD
    assert json.loads(run("init", vault, "--memory", "--json"))["created"] == []
    assert run("synthesize", vault).strip().endswith("lessons=0 candidates=0")
    assert not any("memory" in path for path in json.loads(run("links", vault, "--json"))["problems"])


def test_init_captures_no_link(tmp_path: Path) -> None:
    vault = tmp_path / "v"
    vault.mkdir()
    (vault / "a.md").write_text("see [[DREAM_LOG]]\n", "utf-8")
    said = run("init", vault, "--memory")
    assert "No memory was made" in said
    assert not list(vault.rglob("DREAM_LOG.md"))
    assert "memory" not in run("init", vault)


@pytest.mark.usefixtures("no_model")
def test_decisions(quiet: Path, tmp_path: Path) -> None:
    memory = quiet / "vault" / "memory"
    candidate = (
        "### ni-20261128-01 - short name\n- **status:** proposed\n- **evidence:** a; b\n- **failure class:** c\n"
        "- **proposed_change:** d\n- **mutation proof:** e\n- **operator gate:** approve / reject / revise\n"
        "- **operator evidence:** pending\n"
    )
    (memory / "DREAM_LOG.md").write_bytes(f"# Log\r\n\r\n{candidate}".replace("\n", "\r\n").encode())
    before = held(quiet)
    decide = ("synthesize", quiet, "--set-status", "ni-20261128-01")
    for evidence in ("yes", "approved", "chat 12", "looks good to me", "the agent approved it in chat 12"):
        assert "nothing was written" in run(*decide, "approved", "--operator-evidence", evidence, code=2)
    run(*decide, "approved", code=2)
    run(*decide, "proposed", "--operator-evidence", "chat of 2026-11-30, 09:14", code=2)
    run("synthesize", quiet, "--operator-evidence", "chat of 2026-11-30, 09:14", code=2)
    said = "chat of 2026-11-30, 09:14, Anna: go ahead"
    run("synthesize", quiet, "--set-status", "ni-20261128-02", "approved", "--operator-evidence", said, code=4)
    assert held(quiet) == before
    snapshot = tmp_path / "s.json"
    run("contract", "snapshot", quiet, "--out", snapshot)
    assert run(*decide, "approved", "--operator-evidence", said) == (
        "DREAM STATUS ni-20261128-01 proposed -> approved\n"
    )
    first = (memory / "DREAM_LOG.md").read_bytes()
    old = before["vault/memory/DREAM_LOG.md"]
    assert first.startswith(old)
    tail = first[len(old) :].decode()
    assert tail.startswith("\r\n### status ni-20261128-01\r\n- **status:** approved\r\n")
    assert "\n## " not in tail
    assert "PASS" in run("contract", "check", quiet, "--snapshot", snapshot)
    assert "already" in run(*decide, "approved", "--operator-evidence", said, code=2)
    run(*decide, "merged", "--operator-evidence", "commit 5f3c2a9 by Anna")
    assert (memory / "DREAM_LOG.md").read_bytes().startswith(first)
    run("synthesize", quiet)
    assert "ni-20261128-01" not in log_of(quiet)[len(first) + 300 :]


@pytest.mark.usefixtures("no_model")
def test_a_contract_that_fails_restores_and_says_so(quiet: Path) -> None:
    """A section from the future: today's can never be the newest, so the run is turned back."""
    log = quiet / "vault" / "memory" / "DREAM_LOG.md"
    log.write_text("# Log\n\n## 2999-01-01 (a clock that was wrong)\n", "utf-8")
    before = log.read_bytes()
    said = run("synthesize", quiet, code=1)
    assert "DREAM_CONTRACT FAIL" in said
    assert "newest-date" in said
    assert "restored" in said
    assert "DREAM PASS" not in said
    assert log.read_bytes() == before
    assert (quiet / "vault" / "memory" / "runtime" / "LESSONS.jsonl").read_bytes() == b""


def test_a_contract_that_fails_on_the_disk_takes_the_change_back(quiet: Path, tmp_path: Path) -> None:
    """The plan passes, the files do not; and where somebody wrote in between, their text stays and it is said."""
    memory = quiet / "vault" / "memory"
    (memory / "DREAM_LOG.md").write_text("# Log\n", "utf-8")
    (memory / "runtime").mkdir()
    (memory / "runtime" / "LESSONS.jsonl").write_text('{"lesson_id":"l007"}', "utf-8")
    before = held(quiet)
    rows_ = [{"kind": "command", "ref": f"run:{code}", "at": f"2026-11-2{9 - code}T10:00:00Z", "command": "make x",
              "exit": code, "artifact_ref": "x.txt"} for code in (1, 0)]  # fmt: skip
    request = SynthesisRequest(
        at=datetime(2026, 11, 30, 3, 12, tzinfo=UTC), occasion="explicit",
        evidence="".join(json.dumps(row) + "\n" for row in rows_),
    )  # fmt: skip
    typed = b""
    calls = 0

    def checked(*arguments: Any) -> Verdict:
        nonlocal calls
        calls += 1
        verdict = check(*arguments)
        assert verdict.passed
        if calls == 2 and typed:
            (memory / "DREAM_LOG.md").write_bytes(typed)
        return verdict if calls == 1 else replace(verdict, failures=("made: up",))

    def encode(texts: Any) -> Any:
        raise MissingPartError("none")

    def once() -> Any:
        files = DiskVault(quiet, tmp_path / "state")
        return run_synthesis(files, synthesis_lock(tmp_path / "state"), Policy(), request, encode, checked=checked)

    result = once()
    assert (calls, result.restored, result.verdict.failures) == (2, True, ("made: up",))
    assert [lesson.lesson_id for lesson in result.synthesis.lessons] == ["l008"]
    assert held(quiet) == before
    calls, typed = 0, b"# Log\nsomebody's own words\n"
    with pytest.raises(WriteRefusedError, match="could not be restored"):
        once()
    assert (memory / "DREAM_LOG.md").read_bytes() == typed


@pytest.mark.usefixtures("no_model")
def test_what_cannot_be_appended_to_is_refused(quiet: Path) -> None:
    memory = quiet / "vault" / "memory"
    (memory / "DREAM_LOG.md").write_text("# Log\n\n```\nan open fence\n", "utf-8")
    before = held(quiet)
    assert "code block" in run("synthesize", quiet, code=6)
    assert held(quiet)["vault/memory/DREAM_LOG.md"] == before["vault/memory/DREAM_LOG.md"]
    (memory / "DREAM_LOG.md").unlink()
    (memory / "runtime").mkdir(exist_ok=True)
    (memory / "runtime" / "LESSONS.jsonl").write_text('{"lesson_id":"l001"}\n{"torn', "utf-8")
    assert "LESSONS.jsonl:2" in run("synthesize", quiet, code=6)
    assert "LESSONS.jsonl:2" in run("contract", "snapshot", quiet, "--out", quiet / "s.json", code=2)


@pytest.mark.usefixtures("no_model")
def test_an_older_copy_of_the_log_is_nobodys(quiet: Path) -> None:
    old = quiet / "vault" / "memory" / "runtime" / "DREAM_LOG.md"
    old.parent.mkdir()
    old.write_text("## 2999-01-01 (old)\n\n### ni-29990101-01 - x\n- **status:** proposed\n", "utf-8")
    before = old.read_bytes()
    assert "sources=1 " in run("synthesize", quiet)
    assert old.read_bytes() == before
    assert "2999" not in (old.parent.parent / "DREAM_LOG.md").read_text("utf-8")


def test_the_validators_exit_codes(quiet: Path, tmp_path: Path) -> None:
    snapshot, memory = tmp_path / "s.json", quiet / "vault" / "memory"
    assert process("contract", "snapshot", quiet, "--out", snapshot).returncode == 0
    entry = f"# Log\n\n## {today()} (by hand)\n\n" + "".join(f"- **{label}:** none\n" for label in LABELS)
    (memory / "DREAM_LOG.md").write_text(entry, "utf-8")
    good = process("contract", "check", quiet, "--snapshot", snapshot)
    assert (good.returncode, good.stdout) == (
        0, f"DREAM_CONTRACT PASS date={today()} lessons_added=0 candidates=0 failures=none\n"
    )  # fmt: skip
    bad = process("contract", "check", quiet, "--snapshot", snapshot, "--date", "2026-01-01")
    assert bad.returncode == 1
    assert bad.stdout.startswith("DREAM_CONTRACT FAIL date=2026-01-01 lessons_added=0 candidates=0 failures=")
    as_json = json.loads(run("contract", "check", quiet, "--snapshot", snapshot, "--json"))
    assert as_json["passed"] is True
    for words in (
        (quiet, "--snapshot", tmp_path / "nowhere.json"),
        (tmp_path / "no-vault", "--snapshot", snapshot),
        (quiet, "--snapshot", memory / "DREAM_LOG.md"),
        (quiet, "--snapshot", snapshot, "--date", "yesterday"),
        (quiet, "--snapshot", snapshot, "--date", "20261130"),
        (quiet,),
    ):
        done = process("contract", "check", *words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert "Traceback" not in done.stderr


@pytest.mark.clocks
@pytest.mark.usefixtures("no_model")
def test_the_local_date_is_the_policys(quiet: Path) -> None:
    text = "---\naria-dream: policy\n---\n- timezone: Pacific/Kiritimati\n"
    (quiet / "dreaming.md").write_text(text, "utf-8")
    from zoneinfo import ZoneInfo

    line = run("synthesize", quiet).strip().splitlines()[-1]
    there = datetime.now().astimezone(ZoneInfo("Pacific/Kiritimati"))
    assert f"date={there:%Y-%m-%d}" in line


@pytest.mark.usefixtures("no_model")
def test_where_the_sources_lie_is_policy(tmp_path: Path) -> None:
    vault = tmp_path / "v"
    (vault / "mind" / "logs").mkdir(parents=True)
    block = "## 2026-11-{} a day\n\n- Something was done here.\n"
    for day in (20, 21):
        (vault / "mind" / "logs" / f"{day}.md").write_text(block.format(day), "utf-8")
    (vault / "mind" / "logs" / "hidden.md").write_text(f"---\ndream: false\n---\n{block.format(25)}", "utf-8")
    policy = "---\naria-dream: policy\n---\n- memory_folder: mind\n- session_log_path: logs\n- capsules_path: {}\n"
    (vault / "dreaming.md").write_text(policy.format("caps"), "utf-8")
    said = run("synthesize", vault)
    assert "sources=2 " in said
    assert "hidden.md was not read" in said
    (vault / "dreaming.md").write_text(policy.format("../out"), "utf-8")
    assert "capsules_path is not understood" in run("synthesize", vault)
    (vault / "dreaming.md").write_text(policy.format("caps").replace("mind", "nowhere"), "utf-8")
    assert "no such folder" in run("synthesize", vault)
    (vault / "dreaming.md").write_text(policy.format("caps").replace("mind", "../x"), "utf-8")
    run("synthesize", vault, code=7)


def test_two_syntheses_at_once_lose_nothing(quiet: Path) -> None:
    command = [sys.executable, "-m", "aria_dream", "synthesize", str(quiet)]
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    running = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [child.communicate(timeout=120)[0] for child in running]
    assert all("DREAM PASS" in text for text in said)
    assert len(find_sections(visible(log_of(quiet)))) == 2


@pytest.mark.usefixtures("no_model")
def test_what_is_written_is_never_dreamt(quiet: Path) -> None:
    from aria_dream.adapters.disk.places import find_places
    from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault

    log = quiet / "vault" / "memory" / "DREAM_LOG.md"
    log.write_text("# A log from before the marker\n", "utf-8")
    seen = read_dreamt_vault(quiet, find_places())
    assert [fact.path for fact in seen.facts] == ["vault/memory/SESSION_LOG.md"]


def test_json_has_the_documented_keys(quiet: Path) -> None:
    page = (REPOSITORY / "docs" / "FORMATS.md").read_text("utf-8")
    section = page.partition("### `aria-dream synthesize --json`\n")[2].partition("\n#")[0]
    assert set(json.loads(run("synthesize", quiet, "--json"))) == set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE))
