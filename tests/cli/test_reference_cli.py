"""`evalkit reference`, and scoring against one."""

from __future__ import annotations

import json

import pytest

from evalkit.scoring.reference import Reference, read_reference, write_reference


@pytest.fixture
def run(made_run, folder):
    """A run of one agent whose trials take so many tokens."""

    def make(name: str, tokens: int, **more):
        def play(task, epoch):
            return {"output_tokens": tokens, "model": "m", **more}

        made_run(folder / name, play, tasks=2, epochs=5, scorers=())
        return name

    return make


def test_a_reference_is_built_shown_and_scored_against(command, run, folder):
    cheap, dear = run("cheap", 100), run("dear", 400)
    built = command("reference", "build", cheap, "--out", "ref.json", "--json")
    assert built.code == 0, built.err
    told = json.loads(built.out)
    assert told["tasks"]["made/t000"]["cost"] == 100
    assert not told["tasks"]["made/t000"]["provisional"]
    assert json.loads(command("reference", "show", "ref.json", "--json").out) == told
    scored = command("score", dear, "--scorer", "overthinking", "--reference", "ref.json", "--json")
    assert scored.code == 0, scored.err
    assert '"token_efficiency"' in scored.out
    assert json.loads(command("reference", "show", dear, "--json").out)["digest"] == told["digest"]
    assert (folder / dear / "reference.json").is_file()


def test_what_a_run_is_scored_against_without_a_file_is_shown(command, run):
    said = command("reference", "show", run("cheap", 100))
    assert said.code == 0
    assert "made of the run's own trials, kept nowhere" in said.out
    assert "made/t001  100" in said.out


def test_a_reference_is_frozen(command, run):
    cheap, cheaper = run("cheap", 100), run("cheaper", 60)
    assert command("reference", "build", cheap, "--out", "ref.json").code == 0
    assert command("reference", "build", cheap, "--out", "ref.json").code == 0
    refused = command("reference", "build", cheaper, "--out", "ref.json")
    assert refused.code == 2
    assert "--merge ref.json --out NEW" in refused.err
    merged = command("reference", "build", cheaper, "--out", "new.json", "--merge", "ref.json", "--json")
    assert json.loads(merged.out)["tasks"]["made/t000"]["cost"] == 60


def test_a_run_that_is_given_another_reference_says_so(command, run):
    cheap, cheaper, dear = run("cheap", 100), run("cheaper", 60), run("dear", 400)
    for name in (cheap, cheaper):
        assert command("reference", "build", name, "--out", f"{name}.json").code == 0
    first = command("score", dear, "-s", "overthinking", "--reference", "cheap.json")
    assert "another reference" not in first.err
    again = command("score", dear, "-s", "overthinking", "--reference", "cheaper.json")
    assert again.code == 0
    assert "another reference" in again.err


def test_scores_of_different_references_are_not_compared(command, run):
    """Each of the two was measured against its own trials."""
    one, other = run("one", 100), run("other", 400)
    for name in (one, other):
        assert command("score", name, "-s", "overthinking").code == 0
    compared = command("compare", one, other, "--json")
    assert compared.code == 0, compared.err
    (pair,) = json.loads(compared.out)["comparisons"]
    assert "token_efficiency" in pair["metrics_of_other_references"]


def test_unknown_costs_are_told_and_score_nothing(command, run):
    blind, dear = run("blind", None), run("dear", 400)
    said = command("reference", "build", blind, "--out", "ref.json")
    assert said.code == 0, said.err
    assert "made/t001  unknown: nobody counted what it cost (1 solved it)" in said.out
    assert "No task has a reference cost" in said.out
    told = json.loads(command("reference", "show", "ref.json", "--json").out)
    assert (told["tasks"]["made/t000"]["cost"], told["excluded"]) == (None, [])
    scored = command("score", dear, "--scorer", "overthinking", "--reference", "ref.json", "--json")
    assert scored.code == 0, scored.err
    assert json.loads(command("show", dear, "--json").out)
    (agent,) = json.loads(command("show", dear, "--json").out)["agents"]
    assert agent["metrics"].get("token_efficiency", {}).get("value") is None


@pytest.mark.parametrize("words", [("--basis", "steps"), ("--merge", "nothing.json")])
def test_what_cannot_be_built_is_refused(command, run, words):
    said = command("reference", "build", run("one", 100), "--out", "ref.json", *words)
    assert said.code == 2
    assert "Traceback" not in said.err


def test_a_reference_of_other_tasks_is_refused_and_not_kept(command, run, folder):
    assert command("reference", "build", run("one", 100), "--out", "ref.json").code == 0
    other = run("other", 100)
    known = read_reference(folder / "ref.json")
    elsewhere = {name.replace("made/", "else/"): own for name, own in known.tasks.items()}
    write_reference(folder / "else.json", Reference(known.basis, elsewhere))
    said = command("score", other, "--reference", "else.json", columns=200)
    assert said.code == 5
    assert "measures none of the run's tasks: made/t000 (not there), made/t001 (not there)" in said.err
    assert "evalkit reference build other --out FILE" in said.err
    assert not (folder / other / "reference.json").exists()


def test_tasks_that_a_reference_has_no_place_for_are_named(command, run, folder):
    assert command("reference", "build", run("one", 100), "--out", "ref.json").code == 0
    known = read_reference(folder / "ref.json")
    write_reference(folder / "some.json", Reference(known.basis, {"made/t000": known.tasks["made/t000"]}))
    said = command("score", run("other", 100), "-s", "overthinking", "--reference", "some.json", columns=200)
    assert said.code == 0
    assert "1 of 2 tasks have no efficiency by this reference: made/t001 (not there)" in said.err


def test_of_a_run_without_trials_no_reference_is_made(command, made_run, folder):
    made_run(folder / "none", lambda task, epoch: {}, tasks=0, scorers=())
    said = command("reference", "build", "none", "--out", "ref.json")
    assert (said.code, "no scored trial without faults" in said.err) == (2, True)
    assert not (folder / "ref.json").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"version": 1', "this is no reference: Expecting"),
        ('{"version": 1}', "this is no reference: it says no basis"),
        ('{"version": 1, "basis": "output_tokens", "tasks": {"a": {}}, "excluded": []}', "it says no cost"),
        ("{}", "a reference of version None, not 1"),
        ('{"version": 1, "basis": "output_tokens", "tasks": [], "excluded": []}', "it is no JSON object"),
        ("\0", "this is no reference: Expecting value"),
    ],
)
def test_damaged_references_are_told_with_their_place(command, run, folder, text, told):
    (folder / "ref.json").write_text(text)
    for words in (("reference", "show", "ref.json"), ("score", run("one", 100), "--reference", "ref.json")):
        said = command(*words, columns=200)
        assert (said.code, told in said.err) == (2, True), said.err
        assert f"{folder / 'ref.json'}: " in said.err
        assert "Traceback" not in said.err
    assert not (folder / "one" / "reference.json").exists()


def test_a_damaged_reference_of_a_run_says_how_to_put_it_right(command, run, folder):
    name = run("one", 100)
    assert command("reference", "build", name, "--out", "ref.json").code == 0
    (folder / name / "reference.json").write_text("{bad")
    said = command("score", name, columns=200)
    assert said.code == 2
    assert f"Give the run one again: evalkit score {folder / name} --reference FILE" in said.err
    assert command("score", name, "--reference", "ref.json").code == 0
    assert (folder / name / "reference.json").read_text() == (folder / "ref.json").read_text()


def test_a_reference_that_is_not_there_or_cannot_be_written_says_so(command, run):
    said = command("reference", "show", "ref.json")
    assert (said.code, "there is no such file" in said.err) == (2, True)
    said = command("reference", "build", run("one", 100), "--out", "/proc/none/ref.json", columns=200)
    assert (said.code, "/proc/none/ref.json: the reference cannot be written" in said.err) == (2, True)


def test_tasks_that_nobody_solved_are_counted_and_named(command, made_run, folder):
    made_run(folder / "one", lambda task, epoch: {"status": "failed"} if task else {}, tasks=3, scorers=())
    assert (
        "Excluded, as nobody solved them (2): made/t001, made/t002"
        in command("reference", "show", "one", columns=120).out
    )
