"""Reading a policy never fails, never opens by accident, and never lets a private word out."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from aria_dream.markdown.note import parse_note
from aria_dream.policy.kinds import Door, Kind, PatternList, Ratio, Switch, Value, Whole, parse_value, render_value
from aria_dream.policy.lines import setting_entries
from aria_dream.policy.policy import Policy, SettingSource, choose_policy, parse_policy
from aria_dream.policy.settings import SETTINGS, Setting, Settings, render_policy_note
from aria_dream.policy.triggers import parse_triggers
from aria_dream.privacy.secrets import redact_secrets
from aria_dream.privacy.sharing import Sharing, Visibility, excerpt_note, excerpt_text, shareable_title, survey

SETTING = st.sampled_from(list(SETTINGS.values()))
WILD = st.text(alphabet=st.characters(codec=None), max_size=300) | st.binary(max_size=300).map(
    lambda data: data.decode("utf-8", "surrogateescape")
)
PIECES = st.lists(
    st.sampled_from(
        [
            "- poll_s: 90", "- exclude: A", "* never_send: #b", "  - C", "```", "~~~", "> ", "<!--", "-->", "%%", "---",
            "\n", "\r\n", "\r", "\t", "    ", "\u00a0", "aria-dream: policy", "- sandbox: danger",
            "[ ] ", "# ", "**", "`",
            ": ", "- dreaming: off", "1. ", "|",
        ]
    ),
    max_size=30,
)  # fmt: skip
TEXT = WILD | PIECES.map("".join) | PIECES.map("\n".join)


@given(TEXT, st.booleans())
def test_reading_is_total(text: str, was_there: bool) -> None:
    policy, problems = parse_policy(text)
    assert bool(policy.shut) == bool(problems)
    choose_policy({"dreaming.md": text}, was_there=was_there)
    parse_triggers(text)
    setting_entries(text)
    redact_secrets(text)
    lines = text.count("\n") + text.count("\r") + 1
    assert all(0 <= problem.line <= lines for problem in problems)


@given(TEXT)
def test_the_wall_never_moves(text: str) -> None:
    settings = parse_policy(text, env={f"ARIA_{name.upper()}": "on" for name in ("sandbox", "writer", "repo")})[
        0
    ].settings
    assert (settings.sandbox, settings.writer, settings.repo) == ("read-only", "aria-only", "none")
    assert settings.network in ("web-on", "web-off")


@st.composite
def values(draw: st.DrawFn, kind: Kind) -> str:
    match kind:
        case Switch():
            return draw(st.sampled_from(["on", "off"]))
        case Whole(low, high):
            return str(draw(st.integers(low, high)))
        case Ratio(low_share, high_share):
            return f"{draw(st.floats(low_share, high_share)):.2f}"
        case PatternList():
            return ", ".join(draw(st.lists(st.sampled_from(["A", "B/C", "#tag", "*.md", '"x, y"']), unique=True)))
        case _:
            return ""


@given(st.data(), SETTING)
def test_a_readable_value_is_read_and_written_back(data: st.DataObject, setting: Setting) -> None:
    raw = data.draw(values(setting.row.kind)) or render_value(setting.default)
    policy, problems = parse_policy(f"prose\n\n- {setting.name}: {raw}  # remark\n")
    assert problems == ()
    value: Value = getattr(policy.settings, setting.name)
    assert parse_value(setting.row.kind, render_value(value)) == (value, "")
    rendered, problems = choose_policy({"dreaming.md": render_policy_note({setting.name: render_value(value)})})
    assert problems == ()
    assert getattr(rendered.settings, setting.name) == value


@given(SETTING, st.data())
def test_a_slip_in_a_key_closes_it_or_at_least_every_way_out(setting: Setting, data: st.DataObject) -> None:
    """One letter dropped, doubled, swapped or in another case: the writer's line is never silently without effect."""
    at = data.draw(st.integers(0, len(setting.name) - 1))
    name = setting.name
    slips = [
        name[:at] + name[at + 1 :], name[:at] + name[at] + name[at:], name[:at] + name[at:].capitalize(),
        name[:at] + name[at + 1 : at + 2] + name[at] + name[at + 2 :], name.replace("_", "-"), name.upper(),
    ]  # fmt: skip
    slip = data.draw(st.sampled_from(slips))
    if slip in SETTINGS or not slip[:1].isalpha():
        return
    policy, problems = parse_policy(f"- {slip}: {render_value(setting.default)}\n")
    assert [problem.line for problem in problems] == [1]
    assert policy.reach_refusal()
    assert policy.refusal(Door.SEND)
    assert policy.refusal(Door.AUTO)
    if len(name) > 5:
        assert policy.origin(name).source is SettingSource.CLOSED


@given(TEXT, SETTING)
def test_what_is_wrong_elsewhere_opens_nothing(text: str, setting: Setting) -> None:
    """Before any garbage a line that cannot be read stays closed."""
    policy, _ = parse_policy(f"- {setting.name}: \u2603\u2603\n\n{text}")
    if setting.row.kind.__class__.__name__ in ("Whole", "Ratio", "Switch", "Choice", "Hours"):
        assert policy.reach_refusal()
        assert policy.origin(setting.name).source is SettingSource.CLOSED
        assert getattr(policy.settings, setting.name) == setting.row.closed


@dataclass(frozen=True, kw_only=True)
class Facts:
    path: str
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    dream: bool = True


CANARY = "CANARY"
WORDS = ("compost", "river", "The", "of", "\u65e5\u8a18", "Stra\u00dfe", "and")
HIDES = ("folder", "tag", "property", "sent folder", "sent tag")


@st.composite
def private_vaults(draw: st.DrawFn) -> tuple[Policy, list[Facts], str]:
    """A policy, notes of every kind of privacy whose names hold canaries, and the text of an open note about them."""
    notes = [
        Facts(path="Open.md"),
        Facts(path="Private/x.md"),
        Facts(path="Work/y.md"),
        Facts(path="t.md", tags=("secret",)),
    ]
    mentions: list[str] = []
    for number in range(draw(st.integers(1, 4))):
        joint = draw(st.sampled_from([" ", "-", "_", "  "]))
        title = f"{draw(st.sampled_from(WORDS))}{joint}{CANARY}{number}"
        alias = f"{CANARY} alias{joint}{number}"
        how = draw(st.sampled_from(HIDES))
        folder = {"folder": "Private/", "sent folder": "Work/a/b/"}.get(how, "Notes/")
        tags = {"tag": ("Secret/deep",), "sent tag": ("PRIVATE/x",)}.get(how, ())
        notes.append(Facts(path=f"{folder}{title}.md", tags=tags, aliases=(alias,), dream=how != "property"))
        for name in (title, alias):
            spelled = draw(st.sampled_from([
                name, name.upper(), name.lower(), name.replace(" ", "\n"), name.replace(" ", "%20"),
                "\u200b".join(name),
                name + "s", "x" + name,
            ]))  # fmt: skip
            shape = draw(st.sampled_from([
                "[[{}]]", "![[{}|shown]]", f"[[{folder}{{}}#h]]", f"[t]({folder}{{}}.md)", "{}",
                "*{}*", "`{}`", "%% {} %%",
                "<!-- {} -->", "> {}", "- [ ] {}", "# {}", "```\n{}\n```", "$ {} $", "[^1]: {}",
                "https://example.org/{}", "#{}",
            ]))  # fmt: skip
            mentions.append(shape.replace("{}", spelled))
    policy, problems = parse_policy("- exclude: Private, #secret\n- never_send: Work\n")
    assert problems == ()
    return policy, notes, "\n\nplain words\n\n".join(draw(st.permutations(mentions)))


def leaks(text: str) -> bool:
    return CANARY.lower() in text.lower().replace("\u200b", "")


@given(private_vaults())
def test_no_canary_of_a_private_note_is_in_any_excerpt(vault: tuple[Policy, list[Facts], str]) -> None:
    policy, notes, text = vault
    sharing, problems = survey(notes, policy)
    assert problems == ()
    note = parse_note(text)
    for made in (excerpt_note(sharing, note, "Open.md"), excerpt_text(sharing, text, title=text)):
        assert not leaks(repr(made)), made
    for other in notes:
        assert not leaks(shareable_title(sharing, other.path))
        if sharing.visibility(other.path) is not Visibility.OPEN:
            assert not hasattr(excerpt_note(sharing, note, other.path), "text")


@given(st.text(max_size=200), st.text(min_size=1, max_size=30))
def test_a_private_title_is_never_in_an_excerpt_whatever_it_is(text: str, title: str) -> None:
    sharing, _ = survey([Facts(path=f"Private/{title}.md"), Facts(path="a.md")], parse_policy("- exclude: Private")[0])
    made = excerpt_text(sharing, f"{text} {title} {text}")
    if len(title.strip()) >= 5 and hasattr(made, "text"):
        assert not sharing.names.are_in(made.text.replace("[private note]", " "))


def test_an_open_vault_shares_its_prose() -> None:
    """The other side of the coin: where nothing is private nothing is blanked."""
    sharing: Sharing = survey([Facts(path="a.md"), Facts(path="b.md")], Policy(settings=Settings()))[0]
    made = excerpt_note(sharing, parse_note("See [[b]] about compost."), "a.md")
    assert made == excerpt_text(sharing, "See [[b]] about compost.", title="a")
    assert not hasattr(made, "reason")
