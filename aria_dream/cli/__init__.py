"""F8: the command line. One module per command, imported when that command runs and not before.

`aria-dream --help` therefore imports click and nothing else of weight.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import click

import aria_dream
from aria_dream.adapters.machine.load import pin_threads
from aria_dream.errors import AriaDreamError, WriteRefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo", "Dream over a copy of the example vault and print the morning note."),
    "init": ("init", "Prepare a vault for dreaming: policy, triggers, and the folder for dreams."),
    "run": ("run", "Look after a vault: dream while nobody is there, and let go at once when somebody returns."),
    "status": ("status", "Show what the daemon of a vault is doing, and what it waits for."),
    "service": ("service", "Let the system start the daemon of a vault when you log in."),
    "doctor": ("doctor", "Show what aria-dream sees of this machine, and what keeps it from dreaming now."),
    "dream": ("dream", "Dream once, now, and append what was found to the day's dream note."),
    "janus": ("janus", "Have proposals reviewed independently, by a model that never saw the dream."),
    "review": ("review", "List what waits for you; with ids, show what would be written, approve or refuse it."),
    "apply": ("apply", "Carry out everything that was ticked or approved, now."),
    "rollback": ("rollback", "Take a change back: the notes read as before, or lose just what was put in."),
    "history": ("history", "List what was proposed and what became of it, the latest first."),
    "graduation": ("graduation", "Show what has earned to be applied without a tick; enable or disable it."),
    "reach": ("reach", "Ask a model outside, once, with live web search, what your notes alone cannot settle."),
    "resonances": ("resonances", "List the links nobody has drawn yet, best first."),
    "seeds": ("seeds", "List the seeds you left for the dreamer, or add one."),
    "links": ("links", "Count a vault's links; show unresolved, ambiguous and isolated ones."),
    "graph": ("graph", "Write the graph of notes and links to a file for Gephi and other programs."),
    "prompts": ("prompts", "List the prompts a model is asked with; show one, or copy one into the vault to edit."),
    "eval": ("eval", "Measure the judge, the reach or the ranking on labelled pairs, requests or hidden links."),
    "consolidate": (
        "consolidate",
        "Look a vault through once for what says the same, contradicts itself or has run out, and propose changes.",
    ),
    "synthesize": (
        "synthesize",
        "Learn from a vault's working memory: append a dated entry and the lessons that the rules admit.",
    ),
    "contract": ("contract", "Take a snapshot of a memory before a synthesis, and check it after."),
    "consent": ("consent", "Show or give this machine's confirmation that text of notes may leave it."),
    "policy": ("policy", "Show every setting in force, where it comes from, and what needs mending."),
}
"""Name of each command, in the order of the help: its module in this package, and one line of help (the command's
own docstring must start with it, which a test checks)."""

EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


class _ReaderGoneError(Exception):
    """Nobody reads our output any more."""


class LazyGroup(click.Group):
    """The group of `COMMANDS`: it lists them all and imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of `COMMANDS`."""
        return [*COMMANDS, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now; None where there is none."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        pin_threads()  # before a command imports numpy
        module = importlib.import_module(f"aria_dream.cli.{COMMANDS[cmd_name][0]}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's
        """Writes the list of commands from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; what it printed has reached the reader when this returns."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except OSError as error:
            # A closed pipe; Windows reports it as an invalid argument.
            if isinstance(error, BrokenPipeError) or (os.name == "nt" and error.errno == errno.EINVAL):
                raise _ReaderGoneError from error
            raise
        return result

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002  # click's signature
        **extra: Any,
    ) -> Any:
        """Runs a command line and exits: errors become one sentence on stderr and their exit code."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        _survive_any_character()
        asked = "--json" in (sys.argv[1:] if args is None else args)
        try:
            result = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except AriaDreamError as error:
            _end(str(error), error.exit_code, as_json=asked)
        except click.ClickException as error:
            error.show()
            _end(error.format_message(), error.exit_code, as_json=asked, is_said=True)
        except (click.Abort, KeyboardInterrupt):
            _say("Interrupted.")
            _end("interrupted", EXIT_INTERRUPTED, as_json=asked, is_said=True)
        except _ReaderGoneError:
            # Whoever read us has left (`| head`). Nothing may be flushed into the closed pipe at exit either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(EXIT_BROKEN_PIPE)
        except OSError as error:  # a broken machine, such as a full disk, is told in one sentence too
            place = f"{error.filename}: " if isinstance(error.filename, str) else ""
            said = f"{place}{(error.strerror or str(error) or type(error).__name__).lower()}"
            code = WriteRefusedError.exit_code if error.errno in _NOT_WRITTEN else AriaDreamError.exit_code
            _end(said, code, as_json=asked)
        sys.exit(result if isinstance(result, int) else 0)


_NOT_WRITTEN = frozenset({errno.ENOSPC, errno.EROFS, getattr(errno, "EDQUOT", errno.ENOSPC)})


def _end(said: str, code: int, *, as_json: bool, is_said: bool = False) -> NoReturn:
    """Ends the program: the error as one sentence on stderr, and as JSON on stdout for whoever asked for JSON."""
    from aria_dream.cli.output import Printed, echo_json

    if not is_said:
        _say(f"Error: {said}")
    if as_json and not Printed.json:
        with suppress(OSError):
            echo_json({"error": said, "exit_code": code})
    Printed.json = False
    sys.exit(code)


def _survive_any_character() -> None:
    """Makes stdout and stderr take any text: note names may hold what the terminal's encoding, or any, cannot say."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _say(sentence: str) -> None:
    try:
        click.echo(sentence, err=True)
    except OSError:
        return  # stderr is gone; the exit code still tells


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(aria_dream.__version__, prog_name="aria-dream")
def main() -> None:
    """Lets an Obsidian vault dream: finds the links nobody has drawn, and leaves the deciding to you.

    A VAULT may be left out inside one, or where ARIA_DREAM_VAULT names it.
    """
