"""The graph for other programs: what is in it, what is not, and that every writer's file reads back the same."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

import networkx as nx
import pytest

import aria_dream
from aria_dream.errors import PolicyClosedError, VaultUnreadableError
from aria_dream.usecases.link_graph import FORMATS, GraphFormat, read_graph, write_graph

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NASTY = (
    "a:b.md", 'x "q" y.md', "back\\slash.md", "日本 ü.md", "node.md", "edge.md", "graph.md", "1.md", "semi;colon,.md",
    "line\nbreak.md", "<b>&.md", "trail\\.md", "a->b.md", "\\N.md", "c\x01.md", "\udcff.md",
)  # fmt: skip


def make(root: Path, notes: dict[str, str]) -> Path:
    for name, text in notes.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return root


def test_notes_and_every_link_between_them(tmp_path: Path) -> None:
    vault = make(tmp_path / "vault", {
        "A.md": "---\naliases: [First, Ay]\ntags: [Garden]\nsee: '[[B]]'\n---\n"
        "[[B]] and ![[B#part|b]]\n\n[b](sub/B.md) #More\n",
        "sub/B.md": "[[#here]] [[nowhere]] [[picture.png]]\n",
        "picture.png": "",
    })  # fmt: skip
    graph = read_graph(vault)
    assert isinstance(graph, nx.MultiDiGraph)
    assert list(graph) == ["A.md", "sub/B.md"]
    words = graph.nodes["A.md"].pop("words")
    assert words > 0
    assert graph.nodes["A.md"] == {"title": "A", "aliases": ["First", "Ay"], "tags": ["garden", "more"]}
    assert [(a, b, values) for a, b, values in graph.edges(data=True)] == [
        ("A.md", "sub/B.md", {"kind": "link_wiki_fm", "line": 4, "ambiguous": False}),
        ("A.md", "sub/B.md", {"kind": "link_wiki", "line": 6, "ambiguous": False}),
        ("A.md", "sub/B.md", {"kind": "embed_wiki", "line": 6, "ambiguous": False}),
        ("A.md", "sub/B.md", {"kind": "link_md", "line": 8, "ambiguous": False}),
    ]
    assert sorted(place.name for place in vault.rglob("*")) == ["A.md", "B.md", "picture.png", "sub"]


def test_what_is_excluded_is_not_in_it(tmp_path: Path) -> None:
    vault = make(tmp_path / "vault", {
        "dreaming.md": "---\naria-dream: policy\n---\n- exclude: Private\n",
        "A.md": "[[Diary]] [[Shut]] [[B]]\n",
        "B.md": "[[A]]\n",
        "Private/Diary.md": "[[A]]\n",
        "Shut.md": "---\ndream: false\n---\n[[A]]\n",
        "Dreams/2026-12-01.md": "---\naria-dream: log\n---\n[[A]]\n",
    })  # fmt: skip
    graph = read_graph(vault)
    assert sorted(graph.edges()) == [("A.md", "B.md"), ("B.md", "A.md")]
    assert set(graph) == {"A.md", "B.md"}


def test_a_policy_that_cannot_be_read_gives_no_graph(tmp_path: Path) -> None:
    vault = make(tmp_path / "vault", {"dreaming.md": "---\naria-dream: policy\n---\n- exclude: [[\n", "A.md": "[[B]]"})
    with pytest.raises(PolicyClosedError, match="no graph: "):
        read_graph(vault)
    with pytest.raises(VaultUnreadableError):
        read_graph(tmp_path / "nowhere")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.filterwarnings("ignore:.*deprecated - use.*")  # of pyparsing, for what pydot calls
def test_every_file_reads_back_the_same(form: GraphFormat, tmp_path: Path) -> None:
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for path in NASTY:
        graph.add_node(path, title=path[:-3], aliases=["one", 'tw"o'], tags=[], words=3)
    for one, other in pairwise(NASTY):
        graph.add_edge(one, other, kind="link_wiki", line=3, ambiguous=False)
        graph.add_edge(one, other, kind="embed_wiki", line=4, ambiguous=True)
    place = tmp_path / f"graph.{form}"
    write_graph(graph, place, form)
    if form == "json":
        whole = nx.node_link_graph(json.loads(place.read_text(encoding="utf-8")), edges="links")
        assert nx.utils.graphs_equal(graph, whole)
        return
    readers: dict[str, Callable[[Path], nx.Graph[str]]] = {
        "graphml": nx.read_graphml, "gexf": nx.read_gexf, "dot": nx.nx_pydot.read_dot
    }  # fmt: skip
    known: nx.Graph[str] = readers[form](place)
    shown = [path.replace("\x01", "�").replace("\udcff", "�") for path in NASTY]
    if form == "dot":  # a quoted string keeps its escapes
        known = nx.relabel_nodes(known, lambda name: name.replace('\\"', '"').replace("\\\\", "\\"))
    assert set(known) == set(shown)
    assert sorted(known.edges()) == sorted(2 * list(pairwise(shown)))
    lines = sorted(str(values["line"]) for *_, values in known.edges(data=True))
    assert lines == ["3"] * (len(NASTY) - 1) + ["4"] * (len(NASTY) - 1)


def test_it_is_the_package_s_face() -> None:
    assert aria_dream.read_graph is read_graph
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = aria_dream.nothing
