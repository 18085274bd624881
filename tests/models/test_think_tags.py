"""Is inline reasoning told apart from the answer, and only where it is reasoning?"""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.models.think_tags import split_inline

PAIRS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
]
TAGS = [tag for pair in PAIRS for tag in pair]


@pytest.mark.parametrize(("opening", "closing"), PAIRS)
def test_a_block_at_the_beginning_is_reasoning(opening: str, closing: str) -> None:
    assert split_inline(f"\n {opening}\nhm\n{closing}\n\n4") == ("hm", "4")


@pytest.mark.parametrize(("opening", "closing"), PAIRS)
def test_a_tag_that_the_template_opened_makes_all_before_its_end_reasoning(
    opening: str, closing: str
) -> None:
    assert split_inline(f"hm\n{closing}\n4") == ("hm", "4")


@pytest.mark.parametrize("opening", [opening for opening, _ in PAIRS])
def test_an_unclosed_tag_makes_everything_reasoning(opening: str) -> None:
    assert split_inline(f"{opening}hm, and so on") == ("hm, and so on", "")


def test_several_blocks_in_a_row_are_one_reasoning() -> None:
    assert split_inline("<think>a</think>\n<thinking>b</thinking>[THINK]c[/THINK] d") == ("a\n\nb\n\nc", "d")


def test_a_block_may_follow_one_that_the_template_opened() -> None:
    assert split_inline("a</think><think>b</think>c") == ("a\n\nb", "c")


def test_only_the_first_end_counts() -> None:
    assert split_inline("<think>a</think>b</think>c") == ("a", "b</think>c")


def test_an_empty_block_is_no_reasoning_and_leaves_the_answer() -> None:
    assert split_inline("<think>\n\n</think>\n\n4") == (None, "4")


@pytest.mark.parametrize(
    "text",
    [
        "4",
        "",
        "  4\n",
        "The answer, not <think>a thought</think>.",
        "```html\n<think>a</think>\n```",
        "Close it with `</think>`.",
        'text.split("</think>")[0]',
        "A <think> that never ends",
        "`<think>` begins it",
    ],
)
def test_a_tag_that_is_only_mentioned_is_no_reasoning(text: str) -> None:
    assert split_inline(text) == (None, text)


def test_an_end_that_nothing_precedes_leaves_the_answer() -> None:
    assert split_inline("</think>\n4") == (None, "4")


def test_reasoning_may_end_with_a_quoted_word() -> None:
    assert split_inline('<think>say "four"</think>"four"') == ('say "four"', '"four"')


def test_the_analysis_channel_is_reasoning_and_the_final_one_the_answer() -> None:
    text = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>4<|return|>"
    assert split_inline(text) == ("hm", "4")
    assert split_inline("<|start|>assistant<|channel|>final<|message|>4") == (None, "4")
    assert split_inline("<|channel|>analysis<|message|>hm") == ("hm", "")


@given(
    st.lists(st.sampled_from([*TAGS, " ", "\n", "a", "`", '"', "<|end|>", "<|channel|>"]), max_size=12).map(
        "".join
    )
)
def test_no_text_is_invented(text: str) -> None:
    reasoning, answer = split_inline(text)
    assert text.endswith(answer)
    if reasoning is None:
        assert answer in text
    else:
        assert all(piece in text for piece in reasoning.split("\n\n"))


@pytest.mark.parametrize(
    "text",
    [
        "<think></think>" * 20_000,
        "`</think>`" * 30_000,
        "<think>" * 40_000,
        " " * 300_000,
        "</thinking" * 30_000,
    ],
    ids=["blocks", "quoted ends", "beginnings", "blanks", "almost"],
)
def test_hostile_text_takes_no_more_than_linear_time(text: str) -> None:
    began = time.process_time()
    split_inline(text)
    assert time.process_time() - began < 2
