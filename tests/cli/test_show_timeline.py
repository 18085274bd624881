"""`evalkit show RUN TRIAL`: a trial step by step, whatever is in it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from evalkit.cli.broken_lines import CONTINUED, broken
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

HOSTILE = "\x1b[31mred\x1b]0;title\x07 \u202egnp.exe\u2066 \x9b2J \x00 \u200b [bold]x[/] \ud800"
STRIKE = '{"id": "down", "kind": "unavailable", "loud": true, "visible": true}'


def act(step: int, command: str, exit_code: int, **more: object) -> Act:
    return Act(
        step=step,
        think_step=0,
        call_index=step,
        tool="bash",
        arguments=json.dumps({"command": command}),
        exit_code=exit_code,
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture
def timeline(folder: Path):
    """Write a run of one trial with these steps and scores."""

    def make(*steps: Step, scores: tuple[ScoreRow, ...] = (), **more: object) -> str:
        about = RunManifest(run_id="r", created_at=datetime(2026, 1, 2, tzinfo=UTC))
        given = {"status": "failed", "suite": "s", "task_id": "t", "agent": "a", "epoch": 1, **more}
        with RunWriter.create(folder / "run", about) as writer:
            writer.commit(Trial(run_id="r", trial_id="t.a.1", **given), steps)  # type: ignore[arg-type]
            if scores:
                writer.write_scores(scores)
            writer.finish()
        return "run"

    return make


def recovering(timeline) -> str:
    return timeline(
        Think(step=0, input_tokens=7, cache_read_tokens=5, output_tokens=3),
        act(1, "cat rates", 1, fault_id="down", error_kind="unavailable"),
        Event(step=2, event="fault", detail=STRIKE, parent_step=1),
        act(3, "cat rates", 1),
        act(4, "cat rates", 0),
        act(5, "make all", 2),
        scores=tuple(
            ScoreRow(
                trial_id="t.a.1",
                scorer=scorer,
                scorer_version="1",
                metric=metric,
                value=value,
                reason="because [x] \x1b[1m",
                evidence=tuple(range(steps)),
            )
            for scorer, metric, value, steps in (
                ("success", "success", 0.0, 0),
                ("recovery", "recovery_rate", 1.0, 1),
                ("tool_use", "tool_error_rate", 0.75, 20),
                ("gone", "m", 3.0, 0),
            )
        ),
    )


def test_faults_and_episodes_are_marked_at_their_steps(command, timeline):
    lines = command("show", recovering(timeline), "t").out.splitlines()
    marked = {}
    for line in lines:
        if line[:3].strip().isdigit():
            step = int(line[:3])
        elif line.startswith("  ! "):
            marked.setdefault(step, []).append(line[4:])
    assert marked[1][0] == "fault down struck (unavailable)"
    assert marked[1][1].startswith("episode 1 opens (")
    assert marked[1][1].endswith("; put right at step 4")
    assert marked[3] == ["episode 1 goes on: it failed again"]
    assert marked[4] == ["episode 1 closes, open since step 1"]
    assert "nothing of the kind was tried again" in " ".join(marked[5])


def test_tokens_stand_at_each_step(command, timeline):
    assert "  0 think  in 7  cached 5  out 3\n" in command("show", recovering(timeline), "t").out


def test_scores_that_could_be_better_are_told_with_reason_and_steps(command, timeline):
    run = recovering(timeline)
    said = command("show", run, "t").out
    assert "2 of 4 scores could be better:\n" in said
    assert "  tool_error_rate  0.75\n" in said
    assert "because [x] \\x1b[1m (steps 0, 1, 2, 3," in said
    assert "and 8 more:" in said
    assert "recovery_rate" not in said
    assert "--full all 4" in said
    assert "  recovery_rate  1.00\n" in command("show", run, "t", "--full").out


def test_metric_names_which_scores_are_told(command, timeline):
    run = recovering(timeline)
    said = command("show", run, "t", "--metric", "recovery_rate,gone/m").out
    assert "  recovery_rate  1.00\n" in said
    assert "  m  3.00\n" in said
    assert "tool_error_rate" not in said
    told = json.loads(command("show", run, "t", "--metric", "m", "--json").out)["scores"]
    assert [(one["scorer"], one["metric"], one["declared"]) for one in told] == [("gone", "m", False)]
    wrong = command("show", run, "t", "--metric", "recovery_rat")
    assert wrong.code == 2
    assert "Did you mean recovery_rate?" in wrong.err


def test_json_has_faults_and_episodes(command, timeline):
    told = json.loads(command("show", recovering(timeline), "t", "--json").out)
    assert [(one["step"], one["fault"]) for one in told["faults"]] == [(1, "down")]
    assert [(one["opened_at"], one["attempts"], one["closed_at"]) for one in told["episodes"]] == [
        (1, [1, 3, 4], 4),
        (5, [5], None),
    ]
    assert told["episodes"][1]["abandoned"] is True
    assert [step["kind"] for step in told["steps"]] == ["think", "act", "event", "act", "act", "act"]


def test_options_about_a_run_are_refused_for_a_trial(command, timeline):
    run = recovering(timeline)
    for option in ("--by", "--task", "--agent", "--status", "--variant"):
        said = command("show", run, "t", option, "task")
        assert said.code == 2
        assert "are about a run" in said.err


def test_whatever_is_in_a_trial_it_stays_within_the_page_and_is_only_text(command, timeline):
    long = "x" * 500 + " " + "word " * 100
    run = timeline(
        Prompt(step=0, role="user", text=f"{HOSTILE}\n{long}\n宽字符" * 40),
        Think(step=1, reasoning=HOSTILE, text=long),
        Act(
            step=2, think_step=1, call_index=0, tool=HOSTILE + long, arguments_raw=HOSTILE + long, stdout=long
        ),
        Event(step=3, event="error", detail=HOSTILE),
        agent="a" * 200 + HOSTILE,
        checks={HOSTILE + long: False},
        error_message=f"{HOSTILE}\n{long}",
        status="unscored",
    )
    for args in ((), ("--full",)):
        said = command("show", run, "t", *args).out
        assert all(character.isprintable() or character == "\n" for character in said)
        assert max(map(cell_len, said.splitlines())) <= 80


def test_what_is_folded_is_told_and_can_be_unfolded(command, timeline):
    run = timeline(Prompt(step=0, role="user", text="\n".join(f"line {n}" for n in range(30))))
    said = command("show", run, "t").out
    assert "line 7\n    ... 22 more lines (--full shows them)\n" in said
    assert "line 29" in command("show", run, "t", "--full").out


def test_a_line_of_two_megabytes_is_folded_and_its_rest_counted(command, timeline):
    run = timeline(Prompt(step=0, role="user", text="y" * 2_000_000 + "\nend"))
    assert "more characters and 1 more line (--full shows them)\n" in command("show", run, "t").out


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n\t "), max_size=300), st.integers(20, 100))
def test_nothing_of_a_broken_line_is_lost(line, width):
    from evalkit.cli.prose import one_line

    pieces = [piece for piece, _ in broken(line, width)]
    whole = "".join(
        piece if place == 0 else piece.removeprefix(CONTINUED) for place, piece in enumerate(pieces)
    )
    assert whole == "".join(map(one_line, line)).rstrip(" ")
    assert all(cell_len(piece) <= width for piece in pieces)
