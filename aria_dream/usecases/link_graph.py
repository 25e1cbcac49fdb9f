"""The graph of a vault for other programs: notes and their links as networkx knows them, and as a file of theirs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, assert_never, get_args

from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.errors import PolicyClosedError
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.vault.linkage import kind_name
from aria_dream.vault.record import AMBIGUOUS

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import networkx as nx

GraphFormat = Literal["graphml", "gexf", "json", "dot"]
FORMATS: Final[tuple[GraphFormat, ...]] = get_args(GraphFormat)
"""What `write_graph` writes; a file's ending names one."""
_NO_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What no XML file may hold (XML 1.0, production 2, `Char`)."""


def read_graph(
    path: str | os.PathLike[str],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> nx.MultiDiGraph[str]:
    """The notes of the vault at `path` and every link between two of them. The vault is only read.

    A node is a note, named by its vault path (`folder/note.md`, `/` on every system), in the order of these paths:

    - `title` (str): the file's name without `.md`
    - `aliases` (list of str): as its properties give them
    - `tags` (list of str): distinct, lower-cased, without `#`
    - `words` (int): words of prose, counted up to some thousands

    An edge is one occurrence of a link, from the note that holds it to the note that it means by Obsidian's rules, in
    the order of the text; a link to the note itself and one that means no note are left out. Its key counts from 0:

    - `kind` (str): `link` or `embed`, `_wiki` or `_md`, and `_fm` where it stands in a property (`link_wiki_fm`)
    - `line` (int): 1-based line of the note's file
    - `ambiguous` (bool): whether several files could have been meant

    Notes that the policy excludes (`exclude`, `dream: false`, Obsidian's excluded files), our own notes and copies left
    by a sync are not in it, and neither are links from or to them. What was read is kept in this machine's cache.

    Raises:
        VaultUnreadableError: the vault does not exist, is no folder or cannot be listed.
        PolicyClosedError: the policy cannot be read, so it is not known what it excludes.
    """
    import networkx as nx  # loaded here: it takes a tenth of a second

    vault = read_dreamt_vault(Path(path), find_places(), progress=progress)
    if vault.in_doubt:
        raise PolicyClosedError(f"no graph: {vault.in_doubt}")
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for fact in vault.facts:
        graph.add_node(
            fact.path, title=title_of(fact.path), aliases=list(fact.aliases), tags=list(fact.tags), words=fact.words
        )
    for source in vault.graph.paths:
        for link in vault.index.links_of(source):
            if link.target is not None and link.target in graph and link.target != source:
                kind, ambiguous = kind_name(link.flags & ~AMBIGUOUS), bool(link.flags & AMBIGUOUS)
                graph.add_edge(source, link.target, kind=kind, line=link.line, ambiguous=ambiguous)
    return graph


def write_graph(graph: nx.MultiDiGraph[str], place: Path, form: GraphFormat) -> None:
    """Writes `graph` to the file `place` by networkx's own writer for `form`.

    `json` is `networkx.node_link_data`; it alone keeps lists and every character. Elsewhere lists are one text with
    commas, and what XML cannot hold is `�`. Raises OSError where the file cannot be written.
    """
    import networkx as nx

    if form == "json":
        text = json.dumps(nx.node_link_data(graph, edges="links"), ensure_ascii=False)
        place.write_bytes(text.encode("utf-8", "backslashreplace"))
        return
    plain: nx.MultiDiGraph[str] = nx.relabel_nodes(graph, _plain)
    for _, values in plain.nodes(data=True):
        values.update({name: _plain(value) for name, value in values.items()})
    match form:
        case "graphml":
            nx.write_graphml_xml(plain, place)
        case "gexf":
            nx.write_gexf(plain, place)
        case "dot":
            place.write_text(f"{nx.nx_pydot.to_pydot(_quoted(plain))}", encoding="utf-8")
        case _:
            assert_never(form)


def _plain(value: object) -> object:
    """`value` as one attribute of an XML file: lists as one text."""
    text = ", ".join(value) if isinstance(value, list) else value
    return _NO_XML.sub("�", text) if isinstance(text, str) else text


def _quoted(graph: nx.MultiDiGraph[str]) -> nx.MultiDiGraph[str]:
    """The graph with every text as a quoted string of DOT: pydot 4.0 takes `a:b.md` for a port and keeps `\\`."""
    import networkx as nx

    def quote(text: object) -> object:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' if isinstance(text, str) else text

    made: nx.MultiDiGraph[str] = nx.relabel_nodes(graph, quote)
    for values in (*(values for _, values in made.nodes(data=True)), *(values for *_, values in made.edges(data=True))):
        values.update({name: quote(value) for name, value in values.items()})
    return made
