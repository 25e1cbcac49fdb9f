"""A second process that saves a note as editors do: `python editor.py STYLE VAULT NOTE TEXT`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def in_place(note: Path, text: str) -> None:
    """Obsidian on the desktop, nano, notepad: truncate and write."""
    note.write_text(text, encoding="utf-8", newline="")


def obsidian_rename(note: Path, text: str) -> None:
    """Obsidian's other way: a temp file beside the note, renamed over it."""
    temp = note.with_name(f"{note.name}.tmp")
    temp.write_text(text, encoding="utf-8", newline="")
    temp.rename(note)


def gtk(note: Path, text: str) -> None:
    """gedit and everything on GLib: `.goutputstream-…`, renamed over the note."""
    temp = note.with_name(".goutputstream-A1B2C3")
    temp.write_text(text, encoding="utf-8", newline="")
    temp.rename(note)


def vim(note: Path, text: str) -> None:
    """vim with backups: a test file `4913`, the note moved to `~`, a new note, the backup removed; and a swap file."""
    swap = note.with_name(f".{note.name}.swp")
    swap.write_bytes(b"b0VIM")
    probe = note.with_name("4913")
    probe.touch()
    probe.unlink()
    backup = note.with_name(f"{note.name}~")
    note.rename(backup)
    note.write_text(text, encoding="utf-8", newline="")
    backup.unlink()
    swap.unlink()


def vim_backupcopy(note: Path, text: str) -> None:
    """vim with `backupcopy=yes`: the backup is a copy, the note is written in place."""
    backup = note.with_name(f"{note.name}~")
    shutil.copy2(note, backup)
    note.write_text(text, encoding="utf-8", newline="")
    backup.unlink()


def emacs(note: Path, text: str) -> None:
    """emacs: a lock link, an autosave, the note moved to `~` (which stays), a new note."""
    lock, autosave = note.with_name(f".#{note.name}"), note.with_name(f"#{note.name}#")
    lock.symlink_to("user@host.1:2")
    autosave.write_text(text, encoding="utf-8", newline="")
    note.rename(note.with_name(f"{note.name}~"))
    note.write_text(text, encoding="utf-8", newline="")
    autosave.unlink()
    lock.unlink()


def qt(note: Path, text: str) -> None:
    """QSaveFile (Kate, Ghostwriter): a visible temp file with a random ending, renamed over the note."""
    temp = note.with_name(f"{note.name}.XkqZrT")
    temp.write_text(text, encoding="utf-8", newline="")
    temp.rename(note)


def jetbrains(note: Path, text: str) -> None:
    """JetBrains' safe write: new text aside, the note moved aside, the new one moved in, the old removed."""
    new, old = note.with_name(f"{note.name}___jb_tmp___"), note.with_name(f"{note.name}___jb_old___")
    new.write_text(text, encoding="utf-8", newline="")
    note.rename(old)
    new.rename(note)
    old.unlink()


def hidden_replace(note: Path, text: str) -> None:
    """`os.replace` from a hidden temp, as many scripts do (and aria-dream, where files cannot be exchanged)."""
    temp = note.with_name(".tmp-save")
    temp.write_text(text, encoding="utf-8", newline="")
    temp.replace(note)


def vscode(note: Path, text: str) -> None:
    """VS Code: written in place, in two writes."""
    with note.open("r+", encoding="utf-8", newline="") as file:
        file.truncate(0)
        file.flush()
        file.write(text)


def cocoa(note: Path, text: str) -> None:
    """TextEdit and everything on Cocoa: a folder of its own, from which the new note is moved."""
    folder = note.with_name(f"{note.name}.sb-1234abcd-XyZ")
    folder.mkdir()
    (folder / note.name).write_text(text, encoding="utf-8", newline="")
    (folder / note.name).replace(note)
    folder.rmdir()


def remove_and_create(note: Path, text: str) -> None:
    """Sync clients and old editors: remove, then write anew."""
    note.unlink()
    note.write_text(text, encoding="utf-8", newline="")


STYLES: dict[str, Callable[[Path, str], None]] = {
    style.__name__: style
    for style in (
        in_place, obsidian_rename, gtk, vim, vim_backupcopy, emacs, qt, jetbrains, hidden_replace, vscode, cocoa,
        remove_and_create,
    )
}  # fmt: skip


if __name__ == "__main__":
    STYLES[sys.argv[1]](Path(sys.argv[2], *sys.argv[3].split("/")), sys.argv[4])
