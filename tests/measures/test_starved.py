"""Which generations thought until nothing was left for an answer?"""

from __future__ import annotations

from evalkit.measures.starved import starved
from evalkit.trajectory.step import Act, Prompt, Think


def test_an_answer_that_is_all_thinking_is_starved_whatever_word_says_that_it_was_cut():
    words = ("length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_length")
    steps = [
        Think(step=number, reasoning="Hm.", text="", finish_reason=word) for number, word in enumerate(words)
    ]
    assert starved(steps) == (0, 1, 2, 3, 4)


def test_white_space_is_no_answer():
    assert starved([Think(step=0, text=" \n", finish_reason="length")]) == (0,)
    assert starved([Think(step=0, text=None, finish_reason="length")]) == (0,)


def test_a_word_or_a_call_is_an_answer_even_where_it_was_cut():
    said = Think(step=0, text="So", finish_reason="length")
    called = Think(step=1, text="", finish_reason="length")
    assert starved([said, called, Act(step=2, think_step=1, call_index=0, tool="bash")]) == ()


def test_an_empty_answer_that_ended_by_itself_or_nobody_knows_how_is_not_starved():
    assert starved([Think(step=0, text="", finish_reason="stop"), Think(step=1, text="")]) == ()
    assert starved([]) == ()
    assert starved([Prompt(step=0, role="user", text="Go.")]) == ()
