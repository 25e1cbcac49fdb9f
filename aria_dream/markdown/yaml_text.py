"""Values as YAML on one line: read back the same by YAML 1.2 (Obsidian) and by YAML 1.1 (most other programs)."""

from __future__ import annotations

import json
import math
import re
from datetime import date
from typing import Final

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
