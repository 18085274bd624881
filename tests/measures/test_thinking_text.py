"""What thinking reads like: repetition, changes of mind, scripts. And whether it keeps to its budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.budget_kept import budget_kept, budget_of
from evalkit.measures.legibility import legibility
from evalkit.measures.redundancy import (
    highest_overlap,
    repeated_grams,
    switches,
    visible_thinking,
    words_of,
    zlib_ratio,
)
from evalkit.measures.visible_tokens import hidden_tokens, visible_tokens
from evalkit.trajectory.step import Act, Think

TEXTS = st.lists(st.text(st.sampled_from("ab c"), max_size=40) | st.text(max_size=20), max_size=5)


def words(*texts: str) -> list[list[str]]:
    return [words_of(text) for text in texts]


def test_only_thinking_that_is_shown_in_full_is_read():
    thinks = [
        Think(step=0, reasoning="one", reasoning_visibility="full"),
        Think(step=1, reasoning="two", reasoning_visibility="summary"),
        Think(step=2, reasoning="three"),
        Think(step=3),
    ]
    assert visible_thinking(thinks, "full") == ((0, "one"), (2, "three"))
    assert visible_thinking(thinks, None) == ((0, "one"),)


def test_repeated_grams_by_hand():
    """a b c d e has 2 grams; the second text repeats both and adds one."""
    assert repeated_grams(words("a b c d e")) == 0
    assert repeated_grams(words("a b c d e", "A, b: c d e f")) == pytest.approx(2 / 5)
    assert repeated_grams(words("a b c")) is None


def test_what_is_repeated_compresses_well():
    assert zlib_ratio(["the very same again. " * 50]) < 0.1
    assert zlib_ratio(["short"]) is None


def test_the_highest_overlap_names_both_generations():
    """Of six words two shingles, of which one is shared: 1 of 3."""
    one, other, alike = words("a b c d e f", "nothing like it at all here", "a b c d e x")
    texts = [(0, one), (4, other), (6, alike)]
    assert highest_overlap(texts) == (pytest.approx(1 / 3), (0, 6))
    assert highest_overlap(texts[:2]) == (0, ())
    assert highest_overlap(texts[:1]) is None
    assert highest_overlap([(0, one), (2, one)]) == (1, (0, 2))


def test_generations_far_back_are_not_compared_with():
    filler = [(n, words_of(f"{n} is a number like no other")) for n in range(1, 70)]
    same = words_of("a b c d e f")
    assert highest_overlap([(0, same), *filler, (99, same)])[0] < 1


@given(TEXTS)
def test_repetition_is_bounded(texts):
    grams = repeated_grams(words(*texts))
    assert grams is None or 0 <= grams < 1
    found = highest_overlap(enumerate(words(*texts)))
    assert found is None or 0 <= found[0] <= 1
    assert zlib_ratio(texts) is None or zlib_ratio(texts) > 0


def test_changes_of_mind():
    assert switches(["Wait, that is wrong. Alternatively, hmm, let me try another one."]) == 5
    assert switches(["I await the result; factually fine."]) == 0


def test_letters_of_other_scripts_than_the_task():
    found = legibility(["read это file"], ["Read the file."])
    assert (found.foreign, found.letters, found.switches) == (3, 11, 2)
    assert legibility(["read это file"], ["Read это."]).foreign == 0
    assert legibility(["plain"], ["日本"]).foreign == 5
    assert legibility(["かな 漢字 カナ"], ["漢字"]).foreign == 0


def test_a_single_greek_letter_is_mathematics():
    assert legibility(["let π be"], ["Task"]).foreign == 0
    assert legibility(["let λόγος be"], ["Task"]).foreign == 5


def test_runs_of_symbols():
    assert legibility(["ok ###### then ->->->-> and ..."], ["x"]).symbol_runs == 2


@given(TEXTS, TEXTS)
def test_legibility_is_bounded(texts, task):
    found = legibility(texts, task)
    assert 0 <= found.foreign <= found.letters <= found.chars
    assert 0 <= found.switches <= max(0, found.letters - 1)


@pytest.mark.parametrize(
    ("asked", "budget"),
    [
        ("off", 0),
        ("tokens:1024", 1024),
        ("default", None),
        ("dynamic", None),
        ("effort:high", None),
        (None, None),
        ("tokens:", None),
        ("tokens:-1", None),
    ],
)
def test_budgets_in_tokens(asked, budget):
    assert budget_of(asked) == budget


def thoughts(*tokens: int | None) -> list[Think]:
    return [Think(step=step, reasoning_tokens=amount) for step, amount in enumerate(tokens)]


def test_generations_within_the_budget():
    kept = budget_kept(thoughts(10, 100, 130, None), "tokens:100")
    assert (kept.adherence, kept.overshoot, kept.beyond) == (pytest.approx(2 / 3), 30, (2,))


def test_a_model_that_cannot_stop_thinking_breaks_its_budget():
    kept = budget_kept(thoughts(0, 7), "off")
    assert (kept.adherence, kept.overshoot, kept.beyond) == (0.5, 7, (1,))


def test_thinking_that_can_be_read_breaks_off_whatever_was_counted():
    read = [
        Think(step=0, reasoning="Hm.", reasoning_tokens=0),
        Think(step=1, reasoning="Hm."),
        Think(step=2, reasoning=" ", reasoning_tokens=0),
        Think(step=3),
    ]
    kept = budget_kept(read, "off")
    assert (kept.known, kept.counted, kept.beyond) == (3, 1, (0, 1))
    assert kept.adherence == pytest.approx(1 / 3)
    assert (kept.overshoot, kept.mean_overshoot) == (0, 0)
    assert budget_kept(read[:2], "off").mean_overshoot is None


def test_a_count_of_0_beside_thinking_that_can_be_read_is_no_count():
    assert budget_kept([Think(step=0, reasoning="Hm.", reasoning_tokens=0)], "tokens:100") is None


def test_a_nearest_budget_is_what_a_generation_is_held_to_but_for_off():
    assert budget_kept(thoughts(500), "tokens:100", taken="tokens:1024").beyond == ()
    assert budget_kept(thoughts(40_000), "tokens:99999", taken="tokens:32768").beyond == (0,)
    assert budget_kept(thoughts(500), "tokens:500", taken="effort:low") is None
    assert budget_kept(thoughts(500), "effort:max", taken="tokens:400").beyond == (0,)
    assert budget_kept(thoughts(0, 7), "off", taken="tokens:128").beyond == (1,)
    assert budget_kept(thoughts(7), "off", taken="effort:low").beyond == (0,)


def test_nobody_counted_or_nobody_asked():
    assert budget_kept(thoughts(None), "tokens:100") is None
    assert budget_kept(thoughts(5), "effort:low") is None


@given(st.lists(st.none() | st.integers(0, 200), max_size=6), st.integers(0, 200))
def test_adherence_is_bounded_and_1_without_overshoot(tokens, budget):
    kept = budget_kept(thoughts(*tokens), f"tokens:{budget}")
    if kept is not None:
        assert 0 <= kept.adherence <= 1
        assert (kept.adherence == 1) == (kept.overshoot == 0)


def test_visible_tokens_are_bounded_by_words_and_bytes():
    steps = [
        Think(step=0, text="Two words", reasoning="hidden"),
        Act(step=1, think_step=0, tool="bash", arguments='{"command":"ls"}'),
    ]
    least, most = visible_tokens(steps)
    assert (least, most) == (2 + 6, 9 + 64 + 21 + 64)


def test_the_most_thinking_that_there_can_have_been():
    blind = [Think(step=0), Think(step=1)]
    assert hidden_tokens(blind, visibility="none", budget=None, honoured=None) == 0
    assert hidden_tokens(blind, visibility="encrypted", budget=100, honoured=None) == 200
    assert hidden_tokens(blind, visibility="encrypted", budget=100, honoured=False) is None
    assert hidden_tokens(blind, visibility="encrypted", budget=None, honoured=None) is None
    assert hidden_tokens([Think(step=0, reasoning="abc")], visibility="full", budget=None, honoured=None) == 3
