"""aria-dream: a daemon that lets an Obsidian vault dream."""

from __future__ import annotations

__version__ = "0.1.0"
