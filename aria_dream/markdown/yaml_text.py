"""YAML in a note's properties: values written on one line, and what must not reach the YAML reader.

A value is read back the same by YAML 1.2 (Obsidian) and by YAML 1.1 (most other programs)."""

from __future__ import annotations

import json
import math
import re
from datetime import date
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


_PLAIN: Final = re.compile(r"[^\W\d_](?:[\w ./+\-]*[\w.+/])?")
_RESERVED: Final = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"))
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def render_value(value: object) -> str:
    """`value` as YAML on one line: plain where every reader takes it for the same text, else quoted; lists and maps in
    flow style. `None` is `null`.

    Raises:
        TypeError: `value` is nothing that a property can hold.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _number(value)
        case str():
            return render_text(value)
        case date():  # a datetime is one too
            return value.isoformat()
        case list() | tuple():
            return "[" + ", ".join(render_value(item) for item in value) + "]"
        case dict():
            return "{" + ", ".join(f"{render_text(str(key))}: {render_value(of)}" for key, of in value.items()) + "}"
        case _:
            raise TypeError(f"a property cannot hold a {type(value).__name__}")


def render_text(text: str) -> str:
    """`text` as a YAML scalar that is text for every reader."""
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED and "  " not in text and " #" not in text:
        return text
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _number(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    written = repr(value)
    mantissa, mark, exponent = written.partition("e")
    if not mark:
        return written
    # YAML 1.1 takes `1e+20` for text: it wants a dot before the exponent, and a sign in it.
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent if exponent[0] in '+-' else '+' + exponent}"
