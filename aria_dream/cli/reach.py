"""`aria-dream reach`: one question to a model outside, with live web search; its answer goes into the dream note."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click

from aria_dream.cli.dream import run_dream
from aria_dream.cli.output import echo_json, progress_bar
from aria_dream.cli.reach_shown import (
    ASKING,
    backfill_object,
    budget_text,
    egress_object,
    say_backfill,
    say_egress,
    say_reach,
    reach_object,
)
from aria_dream.cli.resonances import chosen_note
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.effects.consent import CONSENT, has_consent, write_consent
from aria_dream.effects.dreamt_vault import read_dreamt_vault
from aria_dream.effects.egress_log import read_egress
from aria_dream.effects.files import DiskVault
from aria_dream.effects.live_policy import read_live_policy
from aria_dream.effects.places import find_places
from aria_dream.effects.reach_asks import answered_in_notes
from aria_dream.effects.reach_book import ReachBook
from aria_dream.effects.records import RecordBook
from aria_dream.policy.clock import local_now
from aria_dream.reach_cycle import Means, ReachRequest, reach_once

if TYPE_CHECKING:
    from aria_dream.effects.dreamt_vault import DreamtVault
    from aria_dream.effects.places import Places
    from aria_dream.reach_cycle import Reacher, ReachResult

Mode = Literal["external", "internal", "probe", "log", "backfill-memo"]
