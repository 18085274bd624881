"""Efficiency in a gate: against one frozen reference, and refused against two."""

from __future__ import annotations

from pathlib import Path

import pytest

POLICY = """
[metrics]
success          = { max_drop = "10pp" }
token_efficiency = { max_drop = 0.2 }
output_tokens    = { max_ratio = 1.5 }
"""


@pytest.fixture
def runs(made_run, folder) -> tuple[str, str, str]:
    """A baseline, a run that spends about as much, and one that spends three times as much; none scored."""
    Path(folder / "gate.toml").write_text(POLICY)

    def spending(tokens: int):
        return lambda task, epoch: {"output_tokens": tokens + task, "reasoning_tokens": 100, "model": "m"}

    made = [
        made_run(folder / name, spending(tokens), tasks=40, epochs=1, scorers=())
        for name, tokens in (("base", 1000), ("same", 1020), ("more", 3000))
    ]
    return str(made[0]), str(made[1]), str(made[2])


def test_a_run_that_spends_three_times_as_much_regresses_though_it_solves_the_same(command, runs):
    base, same, more = runs
    assert command("reference", "build", base, "--out", "reference.json").code == 0
    for run in runs:
        assert command("score", run, "--reference", "reference.json").code == 0
    assert command("gate", same, "--baseline", base, "--policy", "gate.toml").code == 0
    said = command("gate", more, "--baseline", base, "--policy", "gate.toml")
    assert said.code == 3
    assert "token_efficiency" in said.out
    assert "output_tokens" in said.out


def test_runs_that_were_measured_against_themselves_are_refused_with_what_to_do(command, runs):
    base, same, _ = runs
    for run in (base, same):
        assert command("score", run).code == 0
    said = command("gate", same, "--baseline", base, "--policy", "gate.toml")
    told = " ".join((said.out + said.err).split())
    assert said.code == 5
    assert "token_efficiency of the two sides rests on other reference costs" in told
    assert "evalkit score RUN --scorer overthinking --reference FILE" in told


def test_tokens_of_another_model_are_information(command, made_run, folder, runs):
    """Three times the tokens of another tokenizer, and less efficient by them: told, and nothing is decided by it."""
    base, *_ = runs
    other = made_run(
        folder / "other",
        lambda task, epoch: {"output_tokens": 3000 + task, "reasoning_tokens": 100, "model": "n"},
        tasks=40,
        epochs=1,
        scorers=(),
    )
    assert command("reference", "build", base, "--out", "reference.json").code == 0
    for run in (base, str(other)):
        assert command("score", run, "--reference", "reference.json").code == 0
    said = command("gate", str(other), "--baseline", base, "--policy", "gate.toml")
    assert said.code == 0, said.out + said.err
    assert said.out.count("INFORMATION") == 2
    assert "tokens of another model are no measure of this one's" in said.out
