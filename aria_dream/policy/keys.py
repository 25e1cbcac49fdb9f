"""The one table of the policy: every key of `dreaming.md` with its type, default, closed value, range and meaning.

It drives parsing, `aria-dream policy`, the shipped `dreaming.md` and the README. A field's annotation is what callers
get (`policy.settings.poll_s` is an `int`); its default and everything else stand in one line each.

The *closed* value is what a key has while its line is not understood; the doors are what is shut then. Names and
defaults of the reach are those of the reach's specification (section 5.1).
"""
# ruff: noqa: RUF009 - the calls below return `dataclasses.field(...)`; that is how a field carries its table row
# ruff: noqa: FBT003 - default and closed value are the first two columns of the table, whatever their type

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from aria_dream.policy.kinds import (
    Choice,
    Door,
    Guard,
    Hours,
    Kind,
    PatternList,
    Ratio,
    Switch,
    Url,
    Value,
    VaultPlace,
    Whole,
    Window,
    Words,
    Zone,
)
from aria_dream.policy.patterns import NotePattern

T = TypeVar("T", bool, int, float, str, Window, tuple[NotePattern, ...])


MODEL_SERVERS = {"ollama": "ollama_url", "openai": "triage_url"}
"""Each language model server that `triage_backend` may name, and the key that holds its address. How one is asked is
`adapters.models.judges.SERVERS`."""
JUDGE_BACKENDS = ("auto", *MODEL_SERVERS, "embedded", "off")
"""What `triage_backend` may be; `auto` is the first server where it answers."""


class Group(Enum):
    """Headings of the policy note, in its order."""

    WHEN = "When it dreams"
    WHAT = "What it dreams of"
    PRIVACY = "What stays private"
    JUDGE = "Who judges a dream"
    CHANGES = "Changes to your notes"
    REACH = "Reaching out"
    WALL = "The wall around a reach"
    NIGHT = "Consolidation"
    SYNTHESIS = "Synthesis"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRow:
    """What the table says about one key, beside its name, type and default."""

    kind: Kind
    closed: Value
    group: Group
    meaning: str
    """One short line for the writer; it stands as the comment in the policy note."""
    doors: tuple[Door, ...] = ()
    guard: Guard = ""


def _key(
    default: T, closed: T, group: Group, kind: Kind, meaning: str, *, doors: tuple[Door, ...] = (), guard: Guard = ""
) -> T:
    row = KeyRow(kind=kind, closed=closed, group=group, meaning=meaning, doors=doors, guard=guard)
    return field(default=default, metadata={"row": row})


_OUT = (Door.SPEND, Door.SEND)
_DREAM = (Door.DREAM,)
_WRITE = (Door.WRITE, Door.AUTO)
_AUTO = (Door.AUTO,)
_WHEN, _WHAT, _PRIVACY, _JUDGE, _CHANGES, _REACH, _WALL, _NIGHT, _SYNTHESIS = Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All values of a policy. `Settings()` are the documented defaults."""

    dreaming: bool = _key(True, False, _WHEN, Switch(), "off: the vault does not dream at all")
    idle_threshold_s: int = _key(
        900, 86_400, _WHEN, Whole(30, 86_400, "seconds"), "how long nobody must have touched the machine")
    require_ac_power: bool = _key(True, True, _WHEN, Switch(), "dream on mains power only")
    max_cpu_percent: int = _key(50, 1, _WHEN, Whole(1, 100, "percent"), "wait while the machine is busier than this")
    poll_s: int = _key(60, 3600, _WHEN, Whole(5, 3600, "seconds"), "how often to look whether the time has come")
    cooldown_min: int = _key(30, 1440, _WHEN, Whole(0, 1440, "minutes"), "rest between two dreams")
    daily_dream_cap: int = _key(3, 0, _WHEN, Whole(0, 100), "at most so many dreams a day by itself")
    vault_quiet_s: int = _key(
        120, 86_400, _WHEN, Whole(0, 86_400, "seconds"), "wait until no note has changed for so long")
    tick_quiet_s: int = _key(
        30, 3600, _WHEN, Whole(0, 3600, "seconds"), "how long after your last keystroke a tick is carried out")
    index_debounce_ms: int = _key(
        300, 300, _WHEN, Whole(0, 60_000, "milliseconds"), "gather changes for so long before reading them")
    nightly: bool = _key(True, False, _WHEN, Switch(), "the longer work of the quiet hours")
    quiet_hours: Window = _key(
        Window(60, 360), Window(60, 360), _WHEN, Hours(), "the night, in local time", doors=_DREAM)
    timezone: str = _key(
        "local", "local", _WHEN, Zone(), "whose local time: local, or a name such as Europe/Lisbon", doors=_DREAM)
    host: str = _key("", "", _WHEN, Words(), "the one machine that dreams; empty: any machine", doors=_DREAM)

    dream_folder: str = _key(
        "dreams", "dreams", _WHAT, VaultPlace(), "where dream notes are written", doors=_DREAM)
    juxtapositions_per_dream: int = _key(3, 1, _WHAT, Whole(1, 20), "at most so many pairs a dream")
    surprise: str = _key(
        "mixed", "near", _WHAT, Choice(("near", "mixed", "far")),
        "near: links you would have drawn; far: passages that answer each other from afar; mixed: some of each")
    pair_cooldown_days: int = _key(
        90, 3650, _WHAT, Whole(0, 3650, "days"), "how long a pair you left undecided is not shown again")
    max_open_proposals: int = _key(15, 0, _WHAT, Whole(0, 500), "dreaming pauses while so many wait for you")
    proposal_expiry_days: int = _key(60, 3650, _WHAT, Whole(1, 3650, "days"), "what you leave open so long lapses")
    canvas: bool = _key(False, False, _WHAT, Switch(), "draw the last night as a canvas")
    notify: bool = _key(
        False, False, _WHAT, Switch(), "a notice on the desktop when a dream or a night has found something")

    exclude: tuple[NotePattern, ...] = _key(
        (), (), _PRIVACY, PatternList(), "folders, globs or `#tags` that no dream ever sees",
        doors=(*_OUT, *_DREAM), guard="privacy")
    never_send: tuple[NotePattern, ...] = _key(
        (), (), _PRIVACY, PatternList(), "folders, globs or `#tags` that are dreamt of, and never leave the machine",
        doors=_OUT, guard="privacy")

    triage_backend: str = _key(
        "auto", "embedded", _JUDGE, Choice(JUDGE_BACKENDS),
        "auto: Ollama where it answers, else the built-in judge", doors=_OUT)
    triage_model: str = _key(
        "qwen3:4b", "", _JUDGE, Words(required=True), "the model that Ollama or the server runs", doors=_OUT)
    ollama_url: str = _key(
        "http://127.0.0.1:11434", "", _JUDGE, Url(), "where Ollama listens", doors=_OUT, guard="egress")
    ollama_timeout_s: int = _key(
        5, 1, _JUDGE, Whole(1, 600, "seconds"), "Ollama that does not answer within this counts as absent")
    triage_url: str = _key(
        "", "", _JUDGE, Url(), "an OpenAI-compatible server, for triage_backend: openai", doors=_OUT, guard="egress")
    triage_budget_s: int = _key(
        600, 0, _JUDGE, Whole(0, 86_400, "seconds"), "a dream asks a model for so long; then the built-in judge judges",
        doors=_OUT)
    triage_questions_per_dream: int = _key(
        24, 0, _JUDGE, Whole(0, 1000), "and asks it at most so many questions", doors=_OUT)
    allow_remote_triage: bool = _key(
        False, False, _JUDGE, Switch(), "on: the judge may be another machine", doors=_OUT, guard="egress")

    placement: str = _key(
        "mention-then-related", "none", _CHANGES, Choice(("mention-then-related", "mention", "related", "none")),
        "where a link you ticked is placed: at its first mention, else in a list at the end", doors=_WRITE)
    related_heading: str = _key(
        "Related", "Related", _CHANGES, Words(required=True, pattern=r"[^#\n].*", wanted="the text of a heading"),
        "heading of that list", doors=_WRITE)
    rollback_window_h: int = _key(
        48, 48, _CHANGES, Whole(1, 8760, "hours"), "how long a change can be undone with one tick", doors=_WRITE)
    confidence_floor: float = _key(
        0.85, 1.0, _CHANGES, Ratio(0.5, 1), "nothing below this is ever applied by itself", doors=_AUTO)
    graduation_min_cycles: int = _key(
        10, 1000, _CHANGES, Whole(1, 1000), "so many reviewed nights before you may allow that at all", doors=_AUTO)
    graduation_max_false_prune: float = _key(
        0.02, 0.0, _CHANGES, Ratio(0, 0.5), "and fewer than this share of them undone", doors=_AUTO)
    graduation_min_acceptance: float = _key(
        0.90, 1.0, _CHANGES, Ratio(0.5, 1), "and at least this share accepted", doors=_AUTO)
    min_qualifying_proposals: int = _key(
        1, 1000, _CHANGES, Whole(1, 1000), "a night counts with so many of a kind decided by you", doors=_AUTO)
    min_qualifying_atoms_scanned: int = _key(
        50, 100_000, _CHANGES, Whole(1, 100_000), "or with one, where so many passages were new", doors=_AUTO)

    reach_model: str = _key("gpt-5.5", "", _REACH, Words(required=True), "the model a reach asks", doors=_OUT)
    reach_effort: str = _key(
        "medium", "low", _REACH, Choice(("minimal", "low", "medium", "high", "xhigh")), "how hard it thinks",
        doors=_OUT)
    reach_requests_per_5h: int = _key(
        2, 0, _REACH, Whole(0, 1000), "ceiling in any five hours", doors=_OUT)
    reach_requests_per_week: int = _key(12, 0, _REACH, Whole(0, 10_000), "ceiling in any seven days", doors=_OUT)
    monthly_reach_ceiling: int = _key(
        100, 0, _REACH, Whole(0, 100_000), "hard stop in a calendar month", doors=_OUT)
    requests_per_reach: int = _key(
        1, 1000, _REACH, Whole(1, 1000), "requests that one reach may send; more where a search is one too", doors=_OUT)
    reserve_note: str = _key(
        "dreaming comes last; the ceilings leave room for your own use of the same plan", "", _REACH, Words(),
        "why the ceilings are low; a remark, nothing reads it")
    reach_neither_cooldown_days: int = _key(
        30, 3650, _REACH, Whole(0, 3650, "days"), "a pair answered NEITHER is not asked again for so long", doors=_OUT)
    autonomous_reach: bool = _key(
        False, False, _REACH, Switch(), "on: may reach while you are away, within the ceilings", doors=_OUT,
        guard="egress")
    reach_timeout_s: int = _key(300, 10, _REACH, Whole(10, 3600, "seconds"), "a reach is ended after this", doors=_OUT)
    max_web_turns: int = _key(12, 0, _REACH, Whole(0, 100), "a reach is ended after so many searches", doors=_OUT)
    janus_backend: str = _key(
        "local", "off", _REACH, Choice(("local", "codex", "off")),
        "who reviews a finding independently; codex is metered",
        doors=_OUT, guard="egress")

    sandbox: str = _key(
        "read-only", "read-only", _WALL, Choice(("read-only",)), "it cannot write, install or download",
        doors=_OUT, guard="wall")
    network: str = _key(
        "web-on", "web-off", _WALL, Choice(("web-on", "web-off")), "web-on: live web search; web-off: no reach",
        doors=_OUT, guard="wall")
    writer: str = _key(
        "aria-only", "aria-only", _WALL, Choice(("aria-only",)), "only aria-dream writes, and only its own notes",
        doors=_OUT, guard="wall")
    repo: str = _key(
        "none", "none", _WALL, Choice(("none",)), "runs in an empty folder, never inside a project", doors=_OUT,
        guard="wall")

    cosine_threshold: float = _key(
        0.80, 1.0, _NIGHT, Ratio(0.5, 1), "how alike two passages are before they are compared")
    max_proposals_per_night: int = _key(20, 0, _NIGHT, Whole(0, 1000), "a night stops after so many proposals")
    token_budget_per_night: int = _key(
        200_000, 0, _NIGHT, Whole(0, 100_000_000, "tokens"), "a night stops after so many", doors=_OUT)
    time_budget_per_night_s: int = _key(
        7200, 0, _NIGHT, Whole(0, 86_400, "seconds"), "a night asks a model for so long", doors=_OUT)
    truth: tuple[NotePattern, ...] = _key(
        (), (), _NIGHT, PatternList(), "notes that are right when two disagree", doors=_WRITE)

    memory_folder: str = _key(
        "", "", _SYNTHESIS, VaultPlace(required=False), "empty: vault/memory, else memory, where it exists")
    operators: str = _key(
        "operator, user, human", "", _SYNTHESIS, Words(), "names of those whose word is a directive, with commas")
    capsules_path: str = _key("capsules", "", _SYNTHESIS, VaultPlace(), "in that folder: the capsules")
    session_log_path: str = _key("SESSION_LOG.md", "", _SYNTHESIS, VaultPlace(), "the live session log")
    trust_decay_path: str = _key("TRUST_DECAY.md", "", _SYNTHESIS, VaultPlace(), "open trust-decay captures")
    honesty_ledger_path: str = _key("HONESTY_LEDGER.md", "", _SYNTHESIS, VaultPlace(), "the honesty ledger")
    failed_experiments_path: str = _key(
        "FAILED_EXPERIMENTS.md", "", _SYNTHESIS, VaultPlace(), "failed experiments")
    failure_modes_path: str = _key("FAILURE_MODES.md", "", _SYNTHESIS, VaultPlace(), "failure modes")
    capture_candidates_path: str = _key(
        "runtime/NIGHTLY_CAPTURE_CANDIDATES.jsonl", "", _SYNTHESIS, VaultPlace(), "candidates staged by the last night")
