"""How commands print: JSON that any encoding carries, lists that end, and progress for a person who waits."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

LIST_LENGTH = 10
"""Lines of a list before it is cut."""
_SLICE = 500
"""Items of a list that are rendered at a time."""


class Printed:
    """Whether this command has printed JSON yet, so that an error does not come as a second object."""

    json = False


def echo_json(value: object) -> None:
    """Prints `value` as one line of JSON: readable where stdout is UTF-8, else with escapes."""
    Printed.json = True
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("_", "-")
    readable = encoding in ("utf-8", "utf8")
    for piece in _pieces(value):
        click.echo(piece(readable), nl=False)
    click.echo()


def _pieces(value: object) -> Iterator[Callable[[bool], str]]:
    """The JSON text of `value` in parts, long lists of an object in slices: as one string, a large vault's object would
    cost four bytes a character."""
    if not isinstance(value, dict) or not value:
        yield _json(value)
        return
    for number, (key, item) in enumerate(value.items()):
        yield _text(f"{', ' if number else '{'}{json.dumps(str(key))}: ")
        if not isinstance(item, list) or len(item) <= _SLICE:
            yield _json(item)
            continue
        for start in range(0, len(item), _SLICE):
            yield _text(", " if start else "[")
            yield _json(item[start : start + _SLICE], inner=True)
        yield _text("]")
    yield _text("}")


def _text(text: str) -> Callable[[bool], str]:
    return lambda _readable: text


def _json(value: object, *, inner: bool = False) -> Callable[[bool], str]:
    """Renders `value`, readable or ASCII; `inner` leaves out the outermost brackets."""

    def render(readable: bool) -> str:  # noqa: FBT001  # the only parameter
        text = json.dumps(value, ensure_ascii=not readable)
        try:
            text.encode("utf-8")
        except UnicodeError:  # half a character, from a file name that is no UTF-8
            text = json.dumps(value)
        return text[1:-1] if inner else text

    return render


def echo_list(title: str, lines: Iterable[str], *, everything: bool) -> None:
    """Prints the lines under their title, the first few unless `everything`; nothing where there are none."""
    listed = list(lines)
    if not listed:
        return
    click.echo(f"\n{title}")
    shown = listed if everything or len(listed) <= LIST_LENGTH + 1 else listed[:LIST_LENGTH]
    for line in shown:
        click.echo(f"  {line}")
    if len(shown) < len(listed):
        click.echo(f"  … and {len(listed) - len(shown)} more (--all shows them)")


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 note`, `2 notes`, `1,234 notes`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function `(done, total)` that draws a bar on stderr; None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = click.progressbar(length=1, label=label, file=sys.stderr)
    drawn = 0

    def show(done: int, total: int) -> None:
        nonlocal drawn
        bar.length = total
        bar.update(done - drawn)
        drawn = done

    try:
        yield show
    finally:
        if drawn:
            bar.finish()
            bar.render_finish()
