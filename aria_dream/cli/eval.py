"""`aria-dream eval`: how good the ranking, the judges and the reach are, measured on labelled things."""

from __future__ import annotations

import importlib.util
from typing import Any

import click

_MEASURES: dict[str, tuple[str, str]] = {
    "triage": ("eval_triage", "Put labelled pairs before a judge and count what it gets wrong."),
    "reach": ("eval_reach", "Score answers to labelled reach requests, and say which model the reach should ask."),
    "consolidate": ("eval_consolidate", "Put labelled pairs of notes before the built-in judge: are they one?"),
    "links": ("eval_links", "Hide some of a vault's links and see how well they are found again."),
}


class _Measures(click.Group):
    """Lists every measure and imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's
        """Their names."""
        return [name for name, (module, _) in _MEASURES.items() if _is_there(module)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's
        """The measure of that name; None where there is none."""
        if cmd_name not in _MEASURES or not _is_there(_MEASURES[cmd_name][0]):
            return None
        found: Any = importlib.import_module(f"aria_dream.cli.{_MEASURES[cmd_name][0]}").command
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _MEASURES[name][1]) for name in self.list_commands(ctx)])


def _is_there(module: str) -> bool:
    return importlib.util.find_spec(f"aria_dream.cli.{module}") is not None


@click.group("eval", cls=_Measures)
def command() -> None:
    """Measure the judge, the reach or the ranking on labelled pairs, requests or hidden links."""
