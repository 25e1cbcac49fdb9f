"""What must not reach the YAML reader: a few hundred bytes that would exhaust memory or the stack."""

from __future__ import annotations

import re
from typing import Final

MAX_DEPTH: Final = 200
"""Deeper nesting is refused: `yaml12` ends the process at some 10,000 levels, Python's own printing at 1,000."""

MAX_EXPANSION: Final = 10_000
"""Most values that aliases (`*x`) may add to what is written."""

_DEEP = re.compile(rf"^[ \t?:\-]{{{MAX_DEPTH}}}", re.MULTILINE)
_ANCHOR = re.compile(r"(?:^|[\s\[{,:])&[^\s,\[\]{}]")
_ALIAS = re.compile(r"(?:^|[\s\[{,:])\*[^\s,\[\]{}]")


def yaml_refusal(source: str) -> str:
    """Why this text must not reach the YAML reader; `""` if it may."""
    if len(source) >= MAX_DEPTH and _DEEP.search(source):
        return "they are nested too deeply"
    if "*" in source and "&" in source and _ALIAS.search(source) and _ANCHOR.search(source):
        return _alias_refusal(source)
    return ""


def _alias_refusal(source: str) -> str:  # noqa: C901  # one branch for each kind of event
    """Counts what the aliases stand for, over PyYAML's events, which expand nothing."""
    import yaml  # few notes need it, and it costs 10 ms

    event_loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    sizes: dict[str, int] = {}
    open_nodes: list[list[object]] = []  # [anchor, size, merged names or None]
    added = 0
    merging = False
    try:
        for event in yaml.parse(source, Loader=event_loader):
            size = 1
            if isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
                open_nodes.append([event.anchor, 1, set() if merging else None])
                merging = False
                continue
            if isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
                anchor, total, _ = open_nodes.pop()
                size = int(str(total))
                if anchor is not None:
                    sizes[str(anchor)] = size
            elif isinstance(event, yaml.AliasEvent):
                if event.anchor not in sizes:
                    return "an alias stands for something that holds it, or for nothing"
                size = sizes[event.anchor]
                added += size
                merged = open_nodes[-1][2] if open_nodes else None
                if isinstance(merged, set):
                    if event.anchor in merged:
                        return "one anchor is merged over and over"
                    merged.add(event.anchor)
            elif isinstance(event, yaml.ScalarEvent):
                merging = event.value == "<<"
                if event.anchor is not None:
                    sizes[event.anchor] = 1
            else:
                continue
            if added > MAX_EXPANSION:
                return "its aliases stand for too much"
            if open_nodes:
                open_nodes[-1][1] = int(str(open_nodes[-1][1])) + size
    except yaml.YAMLError as error:
        return str(error).split("\n", 1)[0][:200]
    return ""
