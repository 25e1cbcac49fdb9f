"""aria-dream: a daemon that lets an Obsidian vault dream.

`read_graph(path)` is the vault's graph for programs of your own; see `aria_dream.usecases.link_graph`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.version import __version__

if TYPE_CHECKING:
    from aria_dream.usecases.link_graph import read_graph

__all__ = ["__version__", "read_graph"]


def __getattr__(name: str) -> object:
    if name == "read_graph":  # imported when asked for: `aria-dream --help` needs none of it
        from aria_dream.usecases.link_graph import read_graph

        return read_graph
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
