"""`evalkit show` of some of a run's trials."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.cells import cell_len

from evalkit.trajectory.trial import Trial


@pytest.fixture
def run(scored_run) -> str:
    """Two agents, one's id part of the other's, at two tasks, clean and with a fault; `b` fails what `a` passes."""

    def tried(agent: str, task: str, variant: str) -> tuple[Trial, dict[str, object]]:
        status = "passed" if task == "add-up" else "failed"
        trial = Trial(
            run_id="run-1",
            suite="sums",
            task_id=task,
            agent=agent,
            variant=variant,
            trial_id=f"{task}.{variant}.{agent.replace('/', '-')}.with-a-long-tail",
            status=status,
            epoch=1,
            tool_calls=3,
        )
        return trial, {"success": float(status == "passed")}

    return str(
        scored_run(
            *(
                tried(agent, task, variant)
                for agent in ("react/m", "react/m-mini")
                for task in ("add-up", "bill")
                for variant in ("clean", "down")
            )
        )
    )


def shown(command, run: str, *args: str) -> dict[str, list[str]]:
    trials = json.loads(command("show", run, *args, "--json").out)["trials"]
    return {
        name: sorted({trial[name] for trial in trials}) for name in ("task", "agent", "variant", "status")
    }


@pytest.mark.parametrize(
    ("args", "name", "values"),
    [
        (("--task", "add*"), "task", ["add-up"]),
        (("--task", "sums/bill"), "task", ["bill"]),
        (("--task", "add-up,bill"), "task", ["add-up", "bill"]),
        (("--task", "!bill"), "task", ["add-up"]),
        (("--agent", "mini"), "agent", ["react/m-mini"]),
        (("--agent", "react"), "agent", ["react/m", "react/m-mini"]),
        (("--agent", "react/m"), "agent", ["react/m"]),
        (("--status", "failed"), "status", ["failed"]),
        (("--variant", "faulted"), "variant", ["down"]),
        (("--variant", "d*"), "variant", ["down"]),
    ],
)
def test_each_option_keeps_the_trials_that_it_names(command, run, args, name, values):
    assert shown(command, run, *args)[name] == values


def test_the_numbers_are_those_of_the_kept_trials_and_the_first_line_says_so(command, run):
    said = command("show", run, "--task", "add-up", "--agent", "mini")
    first, *lines = said.out.splitlines()
    assert first == "Only 2 of 8 trials, here and in all numbers: --task add-up --agent mini"
    assert ["success", "1.00", "1", "1.00", "1"] in [line.split() for line in lines]
    told = json.loads(command("show", run, "--task", "add-up", "--agent", "mini", "--json").out)
    assert told["only"] == {"task": ["add-up"], "agent": ["react/m-mini"], "status": [], "variant": []}
    (agent,) = told["agents"]
    assert agent["metrics"]["success"]["value"] == 1
    assert agent["metrics"]["success"]["n"] == 1


def test_without_options_nothing_is_said_of_them(command, run):
    assert json.loads(command("show", run, "--json").out)["only"] is None
    assert "Only" not in command("show", run).out


def test_rates_of_trials_that_were_chosen_by_how_they_ended_are_no_rates(command, run):
    assert (
        "rates of these trials say nothing about the agents" in command("show", run, "--status", "failed").out
    )


def test_options_that_no_trial_fulfils_together_are_answered_with_none(command, run):
    said = command("show", run, "--task", "bill", "--status", "passed")
    assert said.code == 0
    assert said.out.startswith("Only 0 of 8 trials")
    assert json.loads(command("show", run, "--status", "unscored", "--json").out)["trials"] == []


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (("--task", "ad-up"), "Did you mean add-up? There are also: bill."),
        (("--task", "bil"), "Did you mean bill?"),
        (("--agent", "minni"), "Did you mean react/m-mini or react/m?"),
        (("--agent", "n-mini"), "Did you mean react/m-mini"),
        (("--status", "faild"), "Did you mean failed?"),
        (("--variant", "dwn"), "Did you mean down?"),
        (("--variant", "zzzz"), "There are: clean, down, faulted."),
    ],
)
def test_a_value_that_nothing_has_is_answered_with_what_was_meant(command, run, args, hint):
    said = command("show", run, *args)
    assert said.code == 2
    assert hint in said.err


def test_the_table_fits_and_ids_stay_whole(command, run):
    said = command("show", run, columns=60).out
    assert "    bill.down.react-m-mini.with-a-long-tail\n" in said
    assert all(
        cell_len(line) <= 60 for line in said.splitlines() if "long-tail" not in line and run not in line
    )
    assert not any(line.endswith(" ") for line in said.splitlines())


def test_what_is_left_out_of_the_table_is_told_and_can_be_had(command, made_run, folder: Path):
    run = str(made_run(folder / "many", lambda task, epoch: {}, tasks=45, epochs=1, scorers=()))
    said = command("show", run).out
    assert "... and 29 passed more (--full shows all trials; --task, --agent, --status some)\n" in said
    assert "t044.clean.1" not in said
    assert "t044.clean.1" in command("show", run, "--full").out
    assert "t044.clean.1" in command("show", run, "--task", "t044").out


def test_of_many_trials_those_that_need_a_look_are_shown(command, made_run, folder: Path):
    endings = {40: "failed", 44: "unscored"}

    def play(task: int, epoch: int) -> dict[str, object]:
        return {"status": endings.get(task, "passed")}

    run = str(made_run(folder / "many", play, tasks=45, epochs=1, scorers=()))
    table = command("show", run).out.partition("\nstatus ")[2].splitlines()
    assert [line.split()[0] for line in table[1:4]] == ["unscored", "failed", "passed"]
    assert table[1].endswith("t044.clean.1")
    assert table[2].endswith("t040.clean.1")
    whole = command("show", run, "--full").out.partition("\nstatus ")[2].splitlines()
    assert whole[1].endswith("t000.clean.1")
