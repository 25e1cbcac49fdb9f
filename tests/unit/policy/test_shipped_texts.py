"""The shipped notes are what the tables say. To make them anew, write the rendered text over the file."""

from __future__ import annotations

from aria_dream.adapters.disk.places import read_shipped, shipped_path
from aria_dream.markdown.note import parse_note
from aria_dream.notes.review_note import read_managed, render_managed, render_review_head
from aria_dream.notes.seeds import parse_seeds, render_seeds_head
from aria_dream.policy.init_plan import with_property, with_setting
from aria_dream.policy.policy import choose_policy, parse_policy
from aria_dream.policy.settings import SETTINGS, Settings, render_policy_note
from aria_dream.policy.triggers import Triggers, is_triggers_note, parse_triggers, render_triggers_note

NAMES = ("review", "seeds")


def test_the_policy_note_is_made_from_the_table() -> None:
    text = read_shipped("dreaming.md")
    assert text == render_policy_note()
    policy, problems = choose_policy({"dreaming.md": text})
    assert problems == ()
    assert policy.settings == Settings()
    assert len(policy.origins) == len(SETTINGS)


def test_what_init_writes_adds_no_tag_and_no_link_to_the_vault() -> None:
    for parts in (("dreaming.md",), ("triggers.md",), *(("vault_template", "dreams", f"Dream {n}.md") for n in NAMES)):
        note = parse_note(read_shipped(*parts))
        assert (note.tags, note.links, note.aliases, note.problems) == ((), (), (), ())


def test_the_triggers_note_is_made_from_the_table() -> None:
    text = read_shipped("triggers.md")
    assert text == render_triggers_note()
    assert is_triggers_note("triggers.md", text)
    assert parse_triggers(text) == (Triggers(), ())


def test_the_template_is_what_the_dream_reads() -> None:
    review = read_shipped("vault_template", "dreams", "Dream review.md")
    assert review == render_review_head() + render_managed(()) + "\n"
    assert read_managed(review)[1] == ()
    seeds = read_shipped("vault_template", "dreams", "Dream seeds.md")
    assert seeds == render_seeds_head()
    assert parse_seeds(seeds) == ((), ())


def test_all_shipped_parts_are_found() -> None:
    for parts in (("prompts",), ("vault_template",), ("examples", "vault")):
        assert shipped_path(*parts).is_dir()


def test_a_setting_is_changed_in_its_line_alone() -> None:
    text = "\ufeff---\r\na: b\r\n---\r\n- dream_folder: dreams   # where\r\n```\r\n- dream_folder: x\r\n```\r\nend"
    changed = with_setting(text, "dream_folder", "aria dreams")
    assert changed == text.replace("dream_folder: dreams", "dream_folder: aria dreams")
    for line in ("- **dream_folder:** a", "* dream_folder:a  ", "- `dream_folder`: 'a'", "- dream_folder :  a b # c"):
        changed = with_setting(f"x\n{line}\ny", "dream_folder", "Night")
        assert parse_policy(changed)[0].settings.dream_folder == "Night", changed
        assert changed.startswith("x\n")
        assert changed.endswith("\ny")


def test_a_setting_that_is_absent_is_added() -> None:
    for text in ("", "prose", "- poll_s: 90\n", "- poll_s: 90\r\n"):
        changed = with_setting(text, "dream_folder", "Night")
        assert changed.startswith(text)
        assert parse_policy(changed)[0].settings.dream_folder == "Night"


def test_a_property_is_added_to_the_frontmatter() -> None:
    text = with_property(read_shipped("dreaming.md"), "aria-dream-id", "abcdefgh")
    assert choose_policy({"dreaming.md": text})[0].vault_id == "abcdefgh"
    assert text == render_policy_note(vault_id="abcdefgh")
