"""The index of a vault on a real disk: what it holds, what it keeps, and that it never disagrees with a fresh one."""

from __future__ import annotations

import ast
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aria_dream.adapters.index.contents as contents_module
from aria_dream.adapters.disk.places import vault_key
from aria_dream.adapters.index.cache_store import FILE_NAME, ContentCache
from aria_dream.adapters.index.index import VaultIndex, read_vault
from aria_dream.adapters.index.index_cache import (
    FILES_KIND,
    LINKAGE_KIND,
    READER_MODULES,
    VERSION_KIND,
    FileRow,
    IndexCache,
)
from aria_dream.adapters.index.scan import rescan, scan_vault
from aria_dream.vault.graph import NoteFacts
from aria_dream.vault.record import EMPTY, pack_record
from aria_dream.vault.snapshot import FileState

REPOSITORY = Path(__file__).resolve().parents[4]


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="")
    return root


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write(
        tmp_path / "vault",
        {
            "Compost.md": "---\naliases: [Humus]\ntags: [Soil]\ndream: no\n---\n[[Microbes]] and [[nothing yet]]\n",
            "Microbes.md": "one two three [[Compost]] #soil/life ![[pic.png]]\n",
            "Notes/Sourdough.md": "[[Microbes|them]]\n\n[text](Compost.md) [[Twin]]\n",
            "a/Twin.md": "",
            "b/Twin.md": "",
            "Board.canvas": '{"nodes":[{"type":"file","file":"Compost.md"},{"type":"text","text":"[[Microbes]]"}]}',
            "pic.png": "",
        },
    )


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The contents that were parsed, as they are parsed."""
    seen: list[bytes] = []
    for name in ("record_of_note", "record_of_canvas"):
        real = getattr(contents_module, name)

        def spy(data: bytes, real: object = real) -> object:
            seen.append(data)
            return real(data)  # type: ignore[operator]  # one of the two

        monkeypatch.setattr(contents_module, name, spy)
    return seen


def same(one: VaultIndex, other: VaultIndex) -> None:
    assert one.files == other.files
    assert one.graph == other.graph
    assert one.linkage == other.linkage
    assert one.contents == other.contents
    assert list(one.facts) == list(other.facts)
    assert one.problems == other.problems
    assert one.counts == other.counts
    assert one.conflicts == other.conflicts
    assert one.not_here == other.not_here


def test_graph_and_facts(vault: Path) -> None:
    index = read_vault(vault, None)
    assert index.root == vault.resolve()
    assert index.graph.paths == ("Compost.md", "Microbes.md", "Notes/Sourdough.md", "a/Twin.md", "b/Twin.md")
    assert list(index.graph.targets) == [1, 0, 0, 1, 3]
    facts = index.facts[0]
    assert isinstance(facts, NoteFacts)
    assert (facts.path, facts.aliases, facts.tags, facts.dream) == ("Compost.md", ("Humus",), ("soil",), False)
    assert facts.size_bytes == (vault / "Compost.md").stat().st_size
    assert len(facts.content_hash) == 32
    assert index.facts[1].tags == ("soil/life",)
    assert len(index.facts) == 5
    assert [facts.path for facts in index.facts[1:3]] == ["Microbes.md", "Notes/Sourdough.md"]
    assert [(link.path, link.target, link.line) for link in index.links_of("Compost.md")] == [
        ("Microbes", "Microbes.md", 6),
        ("nothing yet", None, 6),
    ]
    assert [link.target for link in index.links_of("Board.canvas")] == ["Compost.md", "Microbes.md"]
    assert [(link.source, link.line) for link in index.unresolved()] == [("Compost.md", 6)]
    assert [(link.path, link.target) for link in index.ambiguous()] == [("Twin", "a/Twin.md")]
    assert index.link_sources("Nothing yet.md") == ("Compost.md",)
    assert index.link_sources("never written") == ()
    assert index.resolver.resolve("twin", "b/Twin.md") == "b/Twin.md"
    assert index.links_of("pic.png") == ()


def test_hidden_notes_still_resolve(vault: Path) -> None:
    write(vault, {".obsidian/app.json": '{"userIgnoreFilters": ["a/"]}', "s.md": "[[a/Twin]]"})
    index = read_vault(vault, None)
    assert {facts.path for facts in index.facts if facts.ignored} == {"a/Twin.md"}
    assert index.links_of("s.md")[0].target == "a/Twin.md"


def test_the_second_time_nothing_is_parsed(vault: Path, cache: Path, parsed: list[bytes]) -> None:
    first = read_vault(vault, cache)
    assert len(parsed) == 6
    same(read_vault(vault, cache), first)
    assert len(parsed) == 6
    assert list((cache / vault_key(vault)).glob(FILE_NAME + "*"))


def test_only_new_content_is_parsed(vault: Path, cache: Path, parsed: list[bytes]) -> None:
    read_vault(vault, cache)
    parsed.clear()
    write(vault, {"Microbes.md": "changed [[Compost]]\n"})
    (vault / "Notes").rename(vault / "Moved")
    os.utime(vault / "Compost.md")
    index = read_vault(vault, cache)
    assert parsed == [b"changed [[Compost]]\n"]
    same(index, read_vault(vault, None))


def test_an_edit_with_its_times_put_back_is_seen(vault: Path, cache: Path) -> None:
    read_vault(vault, cache)
    before = (vault / "Microbes.md").stat()
    text = (vault / "Microbes.md").read_text(encoding="utf-8")
    (vault / "Microbes.md").write_text(text.replace("[[Compost]]", "[[Compast]]"), encoding="utf-8", newline="")
    os.utime(vault / "Microbes.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert len(list(read_vault(vault, cache).unresolved())) == 2


def test_times_are_trusted_only_when_they_are_old_enough() -> None:
    row = FileRow("a.md", 1, 5_000, 5_000, 9, 5_000 + 2_000_000_001, bytes(32), pack_record(EMPTY))
    assert row.still_holds(FileState(1, 5_000, 5_000, 9, 0))
    assert not row._replace(checked_ns=5_000 + 1_999_999_999).still_holds(FileState(1, 5_000, 5_000, 9, 0))
    for other in (FileState(2, 5_000, 5_000, 9, 0), FileState(1, 5_001, 5_000, 9, 0), FileState(1, 5_000, 5_001, 9, 0)):
        assert not row.still_holds(other)
    assert not row.still_holds(FileState(1, 5_000, 5_000, 8, 0))


def look_again(index: VaultIndex, *paths: str) -> VaultIndex:
    """The vault after a look at `paths`, or at every file."""
    return index.rescanned(rescan(index.scan, paths) if paths else scan_vault(index.root))


def corrupt(file: Path) -> None:
    file.write_bytes(b"not a database at all" * 100)


def torn(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def foreign(file: Path) -> None:
    file.unlink()
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE bookmarks (url TEXT)")
    database.close()


def older(file: Path) -> None:
    with ContentCache(file.parent) as store:
        store.put(VERSION_KIND, b"version of another day")
        store.put_many(FILES_KIND, {path: blob[:72] + b"read otherwise" for path, blob in kept(store).items()})


def odd_rows(file: Path) -> None:
    with ContentCache(file.parent) as store:
        store.put_many(FILES_KIND, {path: blob[:71] for path, blob in kept(store).items()} | {b"\xff": bytes(72)})
        store.put(LINKAGE_KIND, b"\0")


def kept(store: ContentCache) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    store.each(FILES_KIND, found.__setitem__)
    assert found
    return found


def a_folder(file: Path) -> None:
    file.unlink()
    (file / "x").mkdir(parents=True)


@pytest.mark.parametrize("damage", [corrupt, torn, foreign, older, odd_rows, a_folder])
def test_a_damaged_or_foreign_cache_is_no_matter(vault: Path, cache: Path, damage: object) -> None:
    first = read_vault(vault, cache)
    file = cache / vault_key(vault) / FILE_NAME
    for left in file.parent.glob(FILE_NAME + "-*"):
        left.unlink()
    damage(file)  # type: ignore[operator]  # one of the functions above
    same(read_vault(vault, cache), first)
    same(read_vault(vault, cache), first)


def test_a_damaged_cache_is_built_anew(vault: Path, cache: Path, parsed: list[bytes]) -> None:
    read_vault(vault, cache)
    corrupt(cache / vault_key(vault) / FILE_NAME)
    read_vault(vault, cache)
    parsed.clear()
    read_vault(vault, cache)
    assert parsed == []


def test_a_cache_that_somebody_holds_is_done_without(
    vault: Path, cache: Path, parsed: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aria_dream.adapters.index.cache_store.BUSY_TIMEOUT_S", 0.05)
    first = read_vault(vault, cache)
    holder = sqlite3.connect(cache / vault_key(vault) / FILE_NAME, isolation_level=None)
    try:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        write(vault, {"New.md": "[[Compost]]"})
        assert len(read_vault(vault, cache).files) == len(first.files) + 1
    finally:
        holder.close()
    parsed.clear()
    assert "New.md" in read_vault(vault, cache).files
    assert parsed == [b"[[Compost]]"]  # what was kept before is known still


def test_a_cache_that_could_not_be_read_for_a_moment_is_not_emptied(
    vault: Path, cache: Path, parsed: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    read_vault(vault, cache)
    parsed.clear()
    with monkeypatch.context() as moment:
        moment.setattr(ContentCache, "each", lambda *_: False)
        with IndexCache(cache / vault_key(vault)):
            pass
    read_vault(vault, cache)
    assert parsed == []


def test_a_cache_that_cannot_be_written_is_done_without(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    assert len(read_vault(vault, tmp_path / "file").files) == 7
    rows: list[FileRow] = []
    IndexCache(tmp_path / "file").each_row(rows.append)
    assert not rows


def test_the_cache_never_lies_in_the_vault(vault: Path) -> None:
    before = sorted(vault.rglob("*"))
    index = read_vault(vault, vault / ".cache")
    assert index.cache_folder is None
    read_vault(vault, vault)
    assert sorted(vault.rglob("*")) == before


def test_the_index_of_an_evicted_note_remembers_it(vault: Path, cache: Path) -> None:
    first = read_vault(vault, cache)
    (vault / "Microbes.md").unlink()
    write(vault, {".Microbes.md.icloud": "bplist"})
    index = read_vault(vault, cache)
    assert index.not_here == {"Microbes.md"}
    assert index.graph == first.graph
    same(read_vault(vault, cache), index)
    refreshed = look_again(first, "Microbes.md", ".Microbes.md.icloud")
    assert refreshed.graph == first.graph
    assert refreshed.not_here == {"Microbes.md"}
    fresh = read_vault(vault, None)
    assert fresh.links_of("Compost.md")[0].target == "Microbes.md"
    assert fresh.facts_of("Microbes.md").words == 0


def test_numbered_copies_count_as_a_syncs_only_with_the_same_content(vault: Path) -> None:
    write(vault, {"Compost 2.md": (vault / "Compost.md").read_text(encoding="utf-8"), "Microbes 2.md": "other",
                  "a/Twin 2.md": ""})  # fmt: skip
    assert read_vault(vault, None).conflicts == {"Compost 2.md"}


def test_an_interrupted_run_keeps_what_it_read(
    vault: Path, cache: Path, parsed: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents_module, "_BATCH", 2)
    monkeypatch.setattr(contents_module, "_STEP", 2)

    def interrupt(done: int, total: int) -> None:
        assert total == 6
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_vault(vault, cache, progress=interrupt)
    already = len(parsed)
    read_vault(vault, cache)
    assert already == 4
    assert len(parsed) == 6


@pytest.mark.parametrize("kind", ["empty", "one", "attachments"])
def test_small_vaults(tmp_path: Path, cache: Path, kind: str) -> None:
    root = tmp_path / kind
    root.mkdir()
    if kind == "one":
        write(root, {"a.md": "no link"})
    elif kind == "attachments":
        write(root, {"a.png": "x"})
    for _ in range(2):
        index = read_vault(root, cache)
        assert index.counts.link_occurrences == index.counts.note_to_note_pairs == 0
        assert len(index.facts) == len(index.graph.paths) == (kind == "one")
        assert index.problems == ()


def test_files_that_are_no_text(tmp_path: Path, cache: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    (root / "bytes.md").write_bytes(b"\xff\xfe\x00 [[b]] \xed\xa0\x80")
    (root / "nul.md").write_bytes(b"\0" * 1000)
    (root / "b.md").write_bytes(b"---\n[unclosed\n---\n[[bytes]]")
    (root / "c.canvas").write_bytes(b"{")
    index = read_vault(root, cache)
    assert index.links_of("bytes.md")[0].target == "b.md"
    assert index.links_of("b.md")[0].target == "bytes.md"
    assert {problem.path for problem in index.problems} == {"b.md", "bytes.md", "c.canvas"}
    same(read_vault(root, cache), index)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_file_name_that_is_no_utf8_survives(tmp_path: Path, cache: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    (root / os.fsdecode(b"caf\xe9.md")).write_bytes(b"[[b]]")
    write(root, {"b.md": ""})
    index = read_vault(root, cache)
    assert index.graph.paths == ("b.md", "caf\udce9.md")
    same(read_vault(root, cache), index)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX modes")
def test_a_vault_on_a_read_only_disk_is_read(vault: Path, cache: Path) -> None:
    for folder in (vault, *[path for path in vault.rglob("*") if path.is_dir()]):
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert read_vault(vault, cache).counts.notes == 5
    finally:
        for folder in (vault, *[path for path in vault.rglob("*") if path.is_dir()]):
            folder.chmod(stat.S_IRWXU)


def test_two_processes_at_once_agree(vault: Path, cache: Path) -> None:
    write(vault, {f"n{number}.md": f"[[n{number - 1}]]" for number in range(1, 400)})
    code = (
        "import sys; from pathlib import Path; from aria_dream.adapters.index.index import read_vault;"
        "print(read_vault(Path(sys.argv[1]), Path(sys.argv[2])).counts)"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(vault), str(cache)],
            cwd=REPOSITORY, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    said = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    assert said == {f"{read_vault(vault, None).counts}\n"}
    assert said == {f"{read_vault(vault, cache).counts}\n"}


def test_the_cache_is_bound_to_the_code_that_reads() -> None:
    """Every module that `vault/record.py` and `vault/linkage.py` lead to is part of the cache's version."""
    folder = REPOSITORY / "aria_dream"
    reached, pending = set(), ["vault.record", "vault.linkage"]
    while pending:
        name = pending.pop()
        if name in reached:
            continue
        reached.add(name)
        nodes = ast.walk(ast.parse((folder / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")))
        modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        rooms = ("aria_dream.vault.", "aria_dream.markdown.")
        pending += [module.removeprefix("aria_dream.") for module in modules if module.startswith(rooms)]
    assert reached - {"vault.graph"} <= set(READER_MODULES)
    assert set(READER_MODULES) <= reached | {"vault.resolve"}


# What may happen to a small vault, over names that collide by case, folder, ending and meaning.
NAMES = ["a.md", "A.md", "b.md", "x/a.md", "x/b.md", "y/A.md", "y/c.md", "pic.png", "x/pic.png", "c.canvas", "b.md.md"]
TEXTS = ["", "[[a]]", "[[A]] [[b]]", "[[x/a]] ![[pic.png]]", "[[c]] [[c.canvas]] [[b.md]]", "[[../a]] [[none]] [[./b]]",
         "---\ntags: [t]\n---\n[[y/c|z]] [[#h]]"]  # fmt: skip
CANVAS = '{"nodes":[{"type":"file","file":"x/a.md"},{"type":"text","text":"[[a]] [[pic.png]]"}]}'
WRITE = st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(TEXTS))
MOVE = st.tuples(st.just("move"), st.sampled_from(NAMES), st.sampled_from(NAMES))
REMOVE = st.tuples(st.just("remove"), st.sampled_from(NAMES), st.just(""))
RECASE = st.tuples(st.just("recase"), st.sampled_from(NAMES), st.just(""))


def act(root: Path, step: tuple[str, str, str]) -> set[str]:
    """Does the step where it can be done; gives the paths it touched."""
    what, name, other = step
    path = root / name
    if what == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(CANVAS if name.endswith(".canvas") and other else other, encoding="utf-8")
        return {name}
    if not path.exists():
        return set()
    if what == "remove":
        path.unlink()
        return {name}
    if what == "recase":
        other = name.swapcase().replace(".MD", ".md").replace(".PNG", ".png").replace(".CANVAS", ".canvas")
    target = root / other
    target.parent.mkdir(exist_ok=True)
    path.replace(target)
    return {name, other}


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(st.lists(st.one_of(WRITE, MOVE, REMOVE, RECASE), min_size=1, max_size=4), max_size=6))
def test_refreshing_equals_reading_anew(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[tuple[str, str, str]]]
) -> None:
    root = tmp_path_factory.mktemp("vault")
    cache = tmp_path_factory.mktemp("cache")
    write(root, {"a.md": "[[b]]", "x/b.md": "[[a]] [[pic.png]]"})
    index = told = read_vault(root, cache)
    for batch in steps:
        touched = set().union(*[act(root, step) for step in batch])
        told = look_again(told, *touched)
        index = look_again(index)
        fresh = read_vault(root, None)
        same(told, fresh)
        same(index, fresh)
    same(read_vault(root, cache), read_vault(root, None))


def test_refreshing_reads_only_what_changed(vault: Path, cache: Path, parsed: list[bytes]) -> None:
    index = read_vault(vault, cache)
    parsed.clear()
    write(vault, {"Microbes.md": "new [[Compost]]"})
    assert look_again(look_again(index, "Microbes.md")).links_of("Microbes.md")[0].target == "Compost.md"
    assert parsed == [b"new [[Compost]]"]
    read_vault(vault, cache)
    assert parsed == [b"new [[Compost]]"]


def test_refreshing_sees_new_settings(vault: Path) -> None:
    index = read_vault(vault, None)
    write(vault, {".obsidian/app.json": '{"userIgnoreFilters": ["a/"]}'})
    assert [facts.path for facts in look_again(index, ".obsidian/app.json").facts if facts.ignored] == ["a/Twin.md"]
