"""`dreaming.md` as a value: what is in force, where each value comes from, and what is shut until a line is mended."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from aria_dream.errors import Problem
from aria_dream.policy.kinds import Door, Kind, PatternList, Value, VaultPlace, Words, parse_value
from aria_dream.policy.lines import Form, SettingLine, note_properties, setting_entries
from aria_dream.policy.settings import SETTINGS, Setting, Settings, near_keys, normal_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

POLICY_NAMES = ("dreaming.md", "dream.md", "aria dreaming.md", "aria dream.md")
"""Names, in any case, that a policy note at the root may have; the later ones where the writer has the first."""

_OWN_VARIABLES = ("ARIA_DREAM_VAULT", "ARIA_DREAM_SHARED", "ARIA_DREAM_STATE", "ARIA_DREAM_CACHE")


class SettingSource(Enum):
    DEFAULT = "default"
    NOTE = "note"
    ENVIRONMENT = "environment"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a value comes from. `str(origin)` is for people: `default`, `dreaming.md:12`, `closed because …`."""

    source: SettingSource
    place: str = ""
    """`dreaming.md:12` or `ARIA_POLL_S`."""
    reason: str = ""
    """Why it is closed."""

    def __str__(self) -> str:
        if self.source is SettingSource.CLOSED:
            return f"closed because {self.reason}" + (f" ({self.place})" if self.place else "")
        return self.place or self.source.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What is in force. `Policy()` is that of a vault that never had a policy note: all defaults, all doors open."""

    settings: Settings = field(default_factory=Settings)
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """Of every key that is not at its default."""
    shut: Mapping[Door, str] = field(default_factory=dict)
    """The doors that are shut, with the first reason in words; a door that is absent is open."""
    path: str = ""
    """Vault path of the policy note; `""` where there is none."""
    vault_id: str = ""
    """The id that `init` wrote into the note's properties; `""` where there is none."""

    def origin(self, name: str) -> Origin:
        return self.origins.get(name, Origin(source=SettingSource.DEFAULT))

    def refusal(self, *doors: Door) -> str:
        """Why one of these is shut, as one sentence for the writer; `""` where all are open."""
        return next((f"{door.value} is off: {self.shut[door]}" for door in doors if door in self.shut), "")

    def reach_refusal(self) -> str:
        """Why the policy permits no reach; `""` where it does (budget, consent and memo are other gates)."""
        if refusal := self.refusal(Door.SPEND, Door.SEND):
            return refusal
        return "" if self.settings.network == "web-on" else "the policy says `network: web-off`; a reach needs the web"

    def dream_refusal(self) -> str:
        """Why the policy permits no dream; `""` where it does."""
        if refusal := self.refusal(Door.DREAM):
            return refusal
        return "" if self.settings.dreaming else f"`dreaming` is off ({self.origin('dreaming')})"

    def write_refusal(self) -> str:
        """Why nothing may be changed in the writer's notes, approved or not; `""` where it may."""
        if refusal := self.refusal(Door.WRITE):
            return refusal
        return "the policy says `placement: none`" if self.settings.placement == "none" else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """What became of one key."""

    value: Value
    origin: Origin
    problem: Problem | None = None


def parse_policy(
    text: str | None, *, was_there: bool = False, env: Mapping[str, str] | None = None, path: str = "dreaming.md"
) -> tuple[Policy, tuple[Problem, ...]]:
    """The policy that `text` states, and what in it needs mending, each with its line.

    `text` is None where there is no policy note; `was_there` says that this vault once had one, so that a vanished note
    closes everything and a vault that never had one has the defaults. `env` holds the environment's variables;
    `ARIA_<KEY>` overrides a key for one run, except those that guard the wall, privacy or what leaves the machine, and
    except what a problem has closed. Never raises, whatever the text.
    """
    if text is None:
        policy = close_policy("the policy note is gone", path) if was_there else Policy()
        return _overridden(policy, env or {}, _vanished(path) if was_there else ())
    if "\x00" in text:
        problem = Problem(path, 0, "this is not UTF-8 text; save it again as UTF-8. Until then everything is closed")
        return close_policy("the policy note cannot be read", path), (problem,)
    named, problems = _sorted_out(setting_entries(text), path)
    readings = {name: _read(SETTINGS[name], entries, path) for name, entries in named.items()}
    problems += [reading.problem for reading in readings.values() if reading.problem]
    policy = _assembled(readings, problems, path, _vault_id(text))
    return _overridden(policy, env or {}, tuple(sorted(problems, key=lambda problem: problem.line)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyNote:
    """The root note that bears our marker."""

    path: str
    text: str


def find_policy_note(candidates: Mapping[str, str]) -> tuple[PolicyNote | None, tuple[Problem, ...]]:
    """The policy note among root notes (vault path → text), or None and why the search was in vain.

    Only a note with `aria-dream: policy` among its properties counts; an unmarked one of any name is the writer's. Two
    marked ones, or one whose properties cannot be read while they mention the marker, are a problem; `choose_policy`
    closes everything then.
    """
    marked: list[PolicyNote] = []
    problems: list[Problem] = []
    for path, text in sorted(candidates.items()):
        if path.lower() not in POLICY_NAMES:
            continue
        properties = note_properties(text)
        if properties is None:
            if re.search(r"(?im)^[\"']?aria-dream[\"']?\s*:\s*[\"']?policy\b", text[:4096]):
                message = "its properties cannot be read, so nobody can tell whether it is the policy"
                problems.append(Problem(path, 1, message))
        elif _property(properties, "aria-dream").lower() == "policy":
            marked.append(PolicyNote(path=path, text=text))
    if len(marked) > 1:
        names = " and ".join(note.path for note in marked)
        problems.append(Problem(marked[-1].path, 1, f"{names} both say that they are the policy; keep one of them"))
    return (marked[0] if len(marked) == 1 and not problems else None), tuple(problems)


def choose_policy(
    candidates: Mapping[str, str], *, was_there: bool = False, env: Mapping[str, str] | None = None
) -> tuple[Policy, tuple[Problem, ...]]:
    """The policy in force for a vault whose root notes are `candidates` (vault path → text), and its problems."""
    note, problems = find_policy_note(candidates)
    if problems:
        return close_policy(problems[0].message, problems[0].path), problems
    if note is None:
        return parse_policy(None, was_there=was_there, env=env)
    return parse_policy(note.text, was_there=True, env=env, path=note.path)


def is_policy_name(name: str) -> bool:
    """True where a root file of this name has to be read to find the policy."""
    return name.lower() in POLICY_NAMES


def _sorted_out(entries: Iterable[SettingLine], path: str) -> tuple[dict[str, list[SettingLine]], list[Problem]]:
    """Entries by the key they are, or may be meant for; and a problem for each that is none."""
    named: dict[str, list[SettingLine]] = {}
    problems: list[Problem] = []
    for entry in entries:
        key = normal_key(entry.key)
        if entry.form is not Form.SETTING:
            if key in SETTINGS:
                named.setdefault(key, []).append(entry)
            continue
        if near := near_keys(entry.key):
            for name in near:
                named.setdefault(name, []).append(entry)
        elif not re.search(r"\s", entry.key):
            message = f"`{entry.key}` is no setting; mend it, or write it without list mark and colon if it is a remark"
            problems.append(Problem(path, entry.line, message))
    return named, problems


def _read(setting: Setting, entries: list[SettingLine], path: str) -> _Reading:
    """The value of one key from everything that was said about it; closed wherever two readings are possible."""
    stated = [entry for entry in entries if entry.form is Form.SETTING and entry.key == setting.name]
    doubtful = [entry for entry in entries if entry.form is not Form.SETTING or entry.key != setting.name]
    values = [parse_value(setting.row.kind, _text(setting.row.kind, entry)) for entry in stated]
    said: Value | None = values[0][0] if values else setting.default
    same: Value | None = said
    if isinstance(setting.row.kind, PatternList):
        said, same = _all_patterns(setting, entries), ()
    doubtful = [entry for entry in doubtful if entry.form is not Form.LOOKALIKE or _means(setting, entry, said=same)]
    for entry, (_, complaint) in zip(stated, values, strict=True):
        if complaint:
            return _closed(setting, entry, path, f"`{setting.name}` {complaint}", said)
    if doubtful:
        return _closed(setting, doubtful[0], path, _doubt(setting, doubtful[0]), said)
    if len({repr(value) for value, _ in values}) > 1:
        twice = f"`{setting.name}` stands here once more and says something else"
        return _closed(setting, stated[-1], path, twice, said)
    if not stated or said is None:
        return _Reading(value=setting.default, origin=Origin(source=SettingSource.DEFAULT))
    return _Reading(value=said, origin=Origin(source=SettingSource.NOTE, place=f"{path}:{stated[0].line}"))


def _doubt(setting: Setting, entry: SettingLine) -> str:
    match entry.form:
        case Form.SETTING:
            return f"`{entry.key}` is no setting; did you mean `{setting.name}`?"
        case Form.PROPERTY:
            return f"`{entry.key}` stands among the properties; write it as a list item, `- {setting.name}: …`"
        case Form.UNCLOSED:
            return f"`{entry.key}` stands {entry.form.value}, so it does not count; close that block"
        case Form.LOOKALIKE:
            return f"`{entry.key}` reads like a setting, but is {entry.form.value}; write `- {setting.name}: …`"


def _closed(setting: Setting, entry: SettingLine, path: str, what: str, said: Value | None) -> _Reading:
    """Closed, and said so. Patterns that were understood go on hiding what they hide: more private is never wrong."""
    value = said if isinstance(setting.row.kind, PatternList) and said is not None else setting.row.closed
    origin = Origin(source=SettingSource.CLOSED, place=f"{path}:{entry.line}", reason=what)
    stop = "" if what.endswith("?") else "."
    problem = Problem(path, entry.line, f"{what}{stop} Until it is mended, `{setting.name}` is closed")
    return _Reading(value=value, origin=origin, problem=problem)


def _means(setting: Setting, entry: SettingLine, *, said: Value | None) -> bool:
    """True where a line that is no list item reads exactly as a setting that would change something."""
    value, complaint = parse_value(setting.row.kind, _text(setting.row.kind, entry))
    if value is None or complaint or value == said or entry.key != setting.name:
        return False
    prose = isinstance(setting.row.kind, PatternList | Words | VaultPlace)
    return not prose or (len(entry.value) <= 40 and not re.search(r"[.!?:;]\s*$", entry.value))


def _all_patterns(setting: Setting, entries: list[SettingLine]) -> Value:
    values = [parse_value(setting.row.kind, _text(setting.row.kind, entry))[0] for entry in entries
              if entry.form is not Form.LOOKALIKE or _means(setting, entry, said=())]
    return tuple(dict.fromkeys(pattern for value in values if isinstance(value, tuple) for pattern in value))


def _text(kind: Kind, entry: SettingLine) -> str:
    """The value without its remark. In a pattern list `#word` is a tag, so only `# ` begins a remark there."""
    if isinstance(kind, PatternList):
        if entry.form is Form.PROPERTY:
            return entry.value
        parts = [re.sub(r"(^|\s)#(\s.*|$)", "", part).strip(" ,") for part in (entry.value, *entry.more)]
        return ", ".join(part for part in parts if part)
    whole = " ".join((entry.value, *entry.more)) if isinstance(kind, Words) else entry.value
    return re.sub(r"(^|\s)#.*", "", whole, flags=re.DOTALL).strip() if entry.form is not Form.PROPERTY else whole


def _assembled(readings: Mapping[str, _Reading], problems: list[Problem], path: str, vault_id: str) -> Policy:
    shut: dict[Door, str] = {}
    for name, reading in readings.items():
        if reading.problem:
            for door in SETTINGS[name].shuts:
                shut.setdefault(door, str(reading.problem))
    for problem in problems:  # a line that is no known key may have been meant as a prohibition
        for door in (Door.SEND, Door.SPEND, Door.AUTO):
            shut.setdefault(door, str(problem))
    return Policy(
        settings=_settings({name: reading.value for name, reading in readings.items()}),
        origins={
            n: reading.origin for n, reading in readings.items() if reading.origin.source is not SettingSource.DEFAULT
        },
        shut=shut,
        path=path,
        vault_id=vault_id,
    )


def _settings(values: Mapping[str, Value], base: Settings | None = None) -> Settings:
    changes: dict[str, Any] = dict(values)  # each was read by its own key's kind, so it has its field's type
    return dataclasses.replace(base or Settings(), **changes)


def close_policy(reason: str, path: str) -> Policy:
    """The policy while nobody can tell what the writer wants: every value closed, every door shut."""
    values = {name: setting.row.closed for name, setting in SETTINGS.items()}
    origin = Origin(source=SettingSource.CLOSED, reason=reason)
    return Policy(settings=_settings(values), origins=dict.fromkeys(SETTINGS, origin),
                  shut=dict.fromkeys(Door, f"{path}: {reason}"), path="")


def _vanished(path: str) -> tuple[Problem, ...]:
    message = ("the policy note is gone, so everything is closed; bring it back, or run `aria-dream init` "
               "to start with the defaults")
    return (Problem(path, 0, message),)


def _overridden(
    policy: Policy, env: Mapping[str, str], problems: tuple[Problem, ...]
) -> tuple[Policy, tuple[Problem, ...]]:
    """The policy with the environment's values for this run; it opens nothing that a problem closed."""
    values: dict[str, Value] = {}
    origins = dict(policy.origins)
    shut = dict(policy.shut)
    found: list[Problem] = []
    for variable in sorted(name for name in env if name.startswith("ARIA_") and name not in _OWN_VARIABLES):
        for name in near_keys(variable.removeprefix("ARIA_")):
            setting = SETTINGS[name]
            if setting.row.guard:
                message = f"{variable} is set, but no environment variable may change `{name}`; it is ignored"
                found.append(Problem("", 0, message))
                continue
            value, complaint = parse_value(setting.row.kind, env[variable])
            if variable != setting.env:
                complaint = f"is not what `{variable}` is called in full ({setting.env})"
            if value is None or complaint:
                found.append(Problem("", 0, f"{variable}: `{name}` {complaint}. Until then it is closed"))
                values[name] = setting.row.closed
                origins[name] = Origin(source=SettingSource.CLOSED, place=variable, reason=f"`{name}` {complaint}")
                for door in setting.shuts:
                    shut.setdefault(door, str(found[-1]))
            elif policy.origin(name).source is not SettingSource.CLOSED:
                values[name] = value
                origins[name] = Origin(source=SettingSource.ENVIRONMENT, place=variable)
    changed = dataclasses.replace(policy, settings=_settings(values, policy.settings), origins=origins, shut=shut)
    return changed, (*problems, *found)


def _vault_id(text: str) -> str:
    value = _property(note_properties(text) or {}, "aria-dream-id")
    return value if re.fullmatch(r"[a-z0-9]{8,40}", value) else ""


def _property(properties: Mapping[str, object], name: str) -> str:
    found = (str(value).strip() for key, value in properties.items() if key.lower() == name and value is not None)
    return next(found, "")
