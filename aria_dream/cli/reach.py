"""`aria-dream reach`: one question to a model outside, with live web search; its answer goes into the dream note."""

from __future__ import annotations

from typing import Literal

Mode = Literal["external", "internal", "probe", "log", "backfill-memo"]
