"""Small pictures of the last nights as SVG inside a note: in the text's own colour, so that they suit every theme.

One HTML block: it begins with a `div`, holds no blank line, no script, no style sheet and nothing that is fetched.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH: Final = 160
HEIGHT: Final = 64
_TOP: Final = 18
"""Height of the line of text over the bars."""
_GAP: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One picture: a value a night, oldest first."""

    name: str
    values: tuple[float | None, ...]
    """None where there is nothing to show."""
    unit: str = ""
    """Behind the last value, such as ` %`."""
    top: float | None = None
    """The value of the full height; None: the largest."""


def render_plots(all_series: Sequence[Series]) -> str:
    """The HTML block, one picture beside the other; ends with a line end. `""` where there is nothing to draw.

    A series in which nothing ever happened is left out.
    """
    shown = [series for series in all_series if any(series.values)]
    if not shown:
        return ""
    pictures = "".join(_picture(series) for series in shown)
    return f"<div>\n{pictures}</div>\n"


def _picture(series: Series) -> str:
    known = [value for value in series.values if value is not None]
    last = next(value for value in reversed(series.values) if value is not None)
    label = f"{series.name}: {_number(last)}{series.unit}"
    nights = "one night" if len(series.values) == 1 else f"{len(series.values)} nights"
    told = f"{label}; most {_number(max(known))}{series.unit} in {nights}"
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(told)}">',
        f'<text x="0" y="12" font-size="11" fill="currentColor">{escape(label)}</text>',
        f'<line x1="0" y1="{HEIGHT - 1}" x2="{WIDTH}" y2="{HEIGHT - 1}" stroke="currentColor" stroke-opacity="0.4"/>',
        *_bars(series, max(known)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _bars(series: Series, largest: float) -> list[str]:
    top = series.top if series.top is not None else largest
    slot = min(24.0, WIDTH / len(series.values))
    room = HEIGHT - 2 - _TOP
    bars = []
    for number, value in enumerate(series.values):
        if value is None:
            continue
        height = 1.0 if top <= 0 else max(1.0, min(1.0, value / top) * room)
        is_last = number == len(series.values) - 1
        bars.append(
            f'<rect x="{number * slot:.1f}" y="{HEIGHT - 1 - height:.1f}" width="{max(1.0, slot - _GAP):.1f}"'
            f' height="{height:.1f}" fill="currentColor" fill-opacity="{"0.9" if is_last else "0.45"}"/>'
        )
    return bars


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 10 else f"{value:.1f}"
