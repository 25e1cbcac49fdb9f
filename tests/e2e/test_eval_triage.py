"""`aria-dream eval triage` as a person runs it, over a small corpus and a scripted model."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.e2e.test_dream import make_vault, run
from tests.model_servers import DROP, KEEP, FakeModel, serving

REPOSITORY = Path(__file__).resolve().parents[2]
CORPUS = REPOSITORY / "examples" / "triage-corpus.jsonl"
SECOND = REPOSITORY / "benchmarks" / "bridge-pairs.jsonl"
FORMATS = REPOSITORY / "docs" / "FORMATS.md"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Every seventh pair of the shipped corpus."""
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(CORPUS.read_text(encoding="utf-8").splitlines()[::7]), encoding="utf-8")
    return path


def test_the_embedded_judge_says_the_same_twice(corpus: Path) -> None:
    result = json.loads(run("eval", "triage", "--backend", "embedded", "--corpus", corpus, "--json").stdout)
    assert result["judge"] == "embedded judge"
    assert result["agreement"] == 1.0
    page = FORMATS.read_text(encoding="utf-8").partition("### `aria-dream eval triage --json`")[2].partition("###")[0]
    rows = [row.split("|")[1] for row in page.splitlines() if row.startswith("| `")]
    assert set(result) == {name for row in rows for name in re.findall("`([^`]+)`", row)}
    assert result["pairs"] == len(corpus.read_text(encoding="utf-8").splitlines()) - result["linked_pairs_left_out"]
    assert sum(kind["of"] for kind in result["kinds"]) == result["pairs"] == len(result["verdicts"])
    right = sum(kind["right"] for kind in result["kinds"])
    assert result["accuracy"] == pytest.approx(right / result["pairs"])


@pytest.mark.parametrize(("corpus", "least"), [(CORPUS, 0.90), (SECOND, 0.75)])
def test_the_embedded_judge_tells_bridges_from_noise(corpus: Path, least: float) -> None:
    """Before it heeded the signs of a bridge it had 0.48 and 0.46. Nothing was fitted to the second corpus. Two notes
    that say nearly the same are no noise: the dream shows those that the night would not list."""
    result = json.loads(run("eval", "triage", "--backend", "embedded", "--corpus", corpus, "--json").stdout)
    assert result["bridge_against_noise"] >= least
    noise = [kind for kind in result["kinds"] if kind["kind"].endswith("noise")]
    assert sum(kind["of"] - kind["right"] for kind in noise) <= 0.15 * sum(kind["of"] for kind in noise)


def test_index_pages_do_not_teach_a_vault_what_it_calls_related(tmp_path: Path) -> None:
    """Six maps that link to fifteen notes each, ninety links in all, are no reason to forget what a bridge is."""
    pairs = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]
    titles = sorted({Path(pair[side]["path"]).stem for pair in pairs for side in "ab"})
    for number, pair in enumerate(pairs):
        for side in "ab":
            if pair[side]["path"].startswith("Maps/") or pair[side]["path"] == "Home.md":
                at = sum(map(ord, pair[side]["path"])) % len(titles)
                links = " ".join(f"[[{titles[(at + 11 * step) % len(titles)]}]]," for step in range(15))
                pairs[number][side] = {**pair[side], "text": f"{pair[side]['text']}\n\n{links}"}
    path = tmp_path / "linked.jsonl"
    path.write_text("\n".join(map(json.dumps, pairs)), encoding="utf-8")
    result = json.loads(run("eval", "triage", "--backend", "embedded", "--corpus", path, "--json").stdout)
    assert result["bridge_against_noise"] >= 0.88


def test_a_model_is_asked_every_pair_twice_and_its_moods_are_counted(corpus: Path, tmp_path: Path) -> None:
    labels = {pair["id"]: pair["label"] for pair in map(json.loads, corpus.read_text("utf-8").splitlines())}
    root = make_vault(tmp_path / "vault")
    with serving() as model:
        model.say = lambda _request: (KEEP, KEEP, "no idea", DROP, KEEP, KEEP, KEEP, DROP)[len(model.requests) % 8]
        policy = f"- triage_backend: ollama\n- triage_model: judge\n- ollama_url: {model.url}\n"
        (root / "dreaming.md").write_text(f"---\naria-dream: policy\n---\n{policy}", encoding="utf-8")
        before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        result = json.loads(run("eval", "triage", "--vault", root, "--corpus", corpus, "--json").stdout)
    assert result["judge"] == "judge"
    assert len(model.requests) >= 2 * result["pairs"]
    assert set(result["verdicts"]) <= set(labels)
    assert result["unreadable"] == sum(verdict == "unreadable" for verdict in result["verdicts"].values())
    kept = [labels[name] for name, verdict in result["verdicts"].items() if verdict == "keep"]
    drops = [label for name, label in labels.items() if label == "drop" and name in result["verdicts"]]
    assert result["false_keep"] == pytest.approx(kept.count("drop") / len(drops))
    assert 0 < result["agreement"] < 1
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_figures_one_can_look_at(corpus: Path) -> None:
    said = run("eval", "triage", "--backend", "off", "--corpus", corpus).stdout
    assert "no judge" in said
    assert "false keep             ████████████████████ 100.0%" in said
    assert "false drop             ····················   0.0%" in said
    assert "right, by kind" in said


def test_a_judge_that_is_not_there(corpus: Path) -> None:
    with serving(FakeModel()) as model:
        pass
    done = run("eval", "triage", "--backend", "openai", "--corpus", corpus, check=False)
    assert done.returncode == 9
    assert "triage_url" in done.stderr
    assert model.requests == []


def test_a_corpus_that_is_none(tmp_path: Path) -> None:
    broken = tmp_path / "c.jsonl"
    broken.write_text("{}\n", encoding="utf-8")
    assert run("eval", "triage", "--corpus", broken, check=False).returncode == 2
    assert run("eval", "triage", "--corpus", tmp_path / "none", check=False).returncode == 4
    notes = {side: {"path": f"{side}.md", "title": side, "text": f"{side} tells of [[a]] and [[b]]."} for side in "ab"}
    linked = {"id": "1", "kind": "bridge", "label": "keep", **notes}
    broken.write_bytes(b"\xef\xbb\xbf" + json.dumps(linked).encode())
    done = run("eval", "triage", "--backend", "embedded", "--corpus", broken, check=False)
    assert done.returncode == 2
    assert "None of the pairs can be judged" in done.stderr


def test_nothing_stays_behind(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temp = tmp_path / "temp"
    temp.mkdir()
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(temp))
    run("eval", "triage", "--backend", "embedded", "--corpus", corpus)
    assert not list(temp.iterdir())
