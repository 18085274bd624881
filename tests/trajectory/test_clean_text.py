"""Is every stored text valid UTF-8, and is what had to be replaced counted?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evalkit.trajectory.clean import cleaned, valid_text
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.step import Act, Prompt

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_every_text_becomes_valid_utf8(text):
    valid, replaced = valid_text(text)
    assert valid.encode("utf-8").decode("utf-8") == valid
    assert len(valid) == len(text)
    assert replaced == sum("\ud800" <= char <= "\udfff" for char in text)


def test_valid_text_stays_as_it_is():
    assert valid_text("naïve 𝔘 \ufffd \x00") == ("naïve 𝔘 \ufffd \x00", 0)


def test_bytes_that_are_no_text_are_replaced_and_counted_in_their_step():
    stdout = b"caf\xe9 \xff".decode("utf-8", "surrogateescape")
    step = cleaned(Act(step=0, stdout=stdout, stderr="\ud83d"))
    assert (step.stdout, step.stderr, step.replaced_chars) == ("caf\ufffd \ufffd", "\ufffd", 3)


def test_map_keys_and_list_items_are_made_valid_too(make_trial):
    trial = cleaned(make_trial(rewards={"\udcff": 1.0}, skills=("\udcff", "b")))
    assert (trial.rewards, trial.skills, trial.replaced_chars) == ({"\ufffd": 1.0}, ("\ufffd", "b"), 2)


def test_cleaning_twice_counts_once():
    once = cleaned(Prompt(step=0, role="user", text="\udcff api_key=abc123def"))
    assert cleaned(once) == once
    assert once.replaced_chars == 1


def test_a_record_with_nothing_to_change_is_the_same_object():
    step = Act(step=0, tool="bash", stdout="plain\n")
    assert cleaned(step) is step


def test_ids_are_never_redacted(make_trial):
    trial = make_trial("api_key=abcdef123456", answer="api_key=abcdef123456")
    stored = cleaned(trial)
    assert stored.trial_id == trial.trial_id
    assert stored.answer == "api_key=[redacted:api_key]"


def test_effects_are_cleaned_as_well():
    effect = Effect(
        trial_id="t", channel="file", resource="/a\udcff", change="created", after="ghp_" + "a1" * 18
    )
    assert cleaned(effect).resource == "/a\ufffd"
    assert cleaned(effect).after == "[redacted:github_token]"
