"""What `show` says of one agent at several levels of thinking."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

LEVELS = {1: ("off", 100), 2: ("tokens:512", 512), 3: ("tokens:2048", 2048), 4: ("tokens:8192", 8192)}


@pytest.fixture(scope="module")
def swept(made_run, tmp_path_factory) -> str:
    """Four levels, at 20 tasks of which the first half needs 300 tokens and the others need 1,500."""

    def play(task: int, level: int) -> dict[str, object]:
        asked, budget = LEVELS[level]
        return {
            "agent": f"react/m@{asked}",
            "model": "m",
            "thinking": asked,
            "thinking_sent": "effort:minimal" if asked == "off" else asked,
            "output_tokens": budget,
            "reasoning_tokens": budget if asked == "off" else budget // 2,
            "difficulty": "easy" if task < 10 else "hard",
            "status": "passed" if budget >= (300 if task < 10 else 1500) else "failed",
        }

    path = made_run(
        tmp_path_factory.mktemp("sweep") / "swept",
        play,
        tasks=20,
        epochs=4,
        scorers=("success", "overthinking", "pondering"),
        planned=False,
    )
    return str(path)


def test_a_sweep_is_a_table_with_the_sufficient_budget_marked(command, swept):
    said = command("show", swept).out
    assert "Thinking of react/m, 20 tasks at each level:" in said
    line = next(line for line in said.splitlines() if "= b*" in line and line.startswith("tokens:2048"))
    assert line.split()[3:] == ["tokens:2048", "2,048", "1.00", "[0.83,", "1.00]", "+0.326", "0.00"]
    last = next(line for line in said.splitlines() if line.startswith("tokens:8192  "))
    assert last.split()[-1] == "0.75"
    assert all(len(line) <= 80 for line in said.splitlines() if "evalkit show" not in line)


def test_what_is_enough_where_is_said_in_words(command, swept):
    said = " ".join(command("show", swept).out.split())
    assert "b*, the sufficient budget, is tokens:2048: no smaller level is as good as the best." in said
    assert (
        "Think slow: difficulty easy: react/m@tokens:512, the best, 1.00 [0.69, 1.00], 512 tokens, 10 tasks"
        in said
    )
    assert "significantly worse, and cheaper: react/m@off" in said
    assert "Thinking tax, tokens beyond those at b* on tasks that both solve: tokens:8192 122,880." in said
    assert "Solved at b* and not at tokens:512: made/t010, made/t011, made/t012 and 7 more (10)." in said
    assert "thinking of react/m@off: asked for off, sent effort:minimal (20 trials)" in said


def test_programs_get_all_of_it(command, swept):
    told = json.loads(command("show", swept, "--json").out)
    (sweep,) = told["sweeps"]
    assert (sweep["sufficient"], sweep["best"], sweep["tasks"]) == ("tokens:2048", "tokens:2048", 20)
    assert [level["success"] for level in sweep["levels"]] == [0, 0.5, 1, 1]
    assert [level["sent"] for level in sweep["levels"]][:2] == [["effort:minimal"], ["tokens:512"]]
    assert {(one["group"], one["agent"]) for one in told["routing"]} == {
        ("easy", "react/m@tokens:512"),
        ("hard", "react/m@tokens:2048"),
    }


def test_every_key_is_documented(command, swept):
    page = (Path(__file__).parents[2] / "docs" / "comparing.md").read_text("utf-8")
    told = json.loads(command("show", swept, "--json").out)
    keys = {
        key for one in [*told["sweeps"], *told["sweeps"][0]["levels"], *told["routing"]] for key in one
    } | set(told["routing"][0]["standing"])
    assert [key for key in keys if f"`{key}`" not in page] == []


def test_a_run_of_one_level_says_nothing_of_it(command, made_run, folder):
    run = made_run(folder / "one", lambda task, epoch: {"thinking": "off", "agent": "a@off"}, tasks=3)
    assert "b*" not in command("show", str(run)).out
    told = json.loads(command("show", str(run), "--json").out)
    assert (told["sweeps"], told["routing"]) == ([], [])


def test_parts_of_ratios_are_shown_only_by_name(command, swept):
    assert "tokens_spent" not in command("show", swept).out
    assert "cost_of_pass" in command("show", swept).out
    assert "tokens_spent" in command("show", swept, "--metric", "tokens_spent").out


def test_two_levels_compared_tell_the_difference_in_success_and_tokens(command, swept):
    said = command("compare", swept, "--agent", "react/m@tokens:512", "--agent", "react/m@tokens:2048").out
    assert "thinking tokens:512 -> tokens:2048" in " ".join(said.split())
    success = next(line for line in said.splitlines() if line.startswith("success"))
    assert "+0.50" in success
    tokens = next(line for line in said.splitlines() if line.startswith("tokens_spent"))
    assert "+1,536" in tokens
