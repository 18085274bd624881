"""Whatever is wrong with what a gate is given: the documented exit code, one clear message, and never 0."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

NOT_COMPARABLE, USAGE, INCONCLUSIVE = 5, 2, 4


def fine(task, epoch):
    del task, epoch
    return {}


def unscored(count):
    return lambda task, _: {"status": "unscored"} if task < count else {}


@pytest.fixture(scope="module")
def accepted(made_run, tmp_path_factory):
    return made_run(tmp_path_factory.mktemp("accepted") / "run", fine, epochs=1, scorers=("success",))


@pytest.fixture(scope="module")
def candidate(made_run, tmp_path_factory):
    return made_run(tmp_path_factory.mktemp("candidate") / "run", fine, epochs=1, scorers=("success",))


@pytest.fixture
def gate(command, accepted, folder):
    """`evalkit gate RUN --strict`, against the accepted run where no baseline is given."""

    def run(path, *args, baseline=None, policy=None):
        if policy is not None:
            (folder / "gate.toml").write_text(policy)
            args = (*args, "--policy", "gate.toml")
        return command("gate", str(path), "--baseline", str(baseline or accepted), "--strict", *args)

    return run


def clear(said, code, told):
    """One message and no traceback; a verdict is in the first line of the text, everything else on stderr."""
    assert said.code == code, (said.out, said.err)
    assert "Traceback" not in said.out + said.err
    flat = " ".join((said.out if code in (4, 5) and said.out else said.err).split())
    assert told in flat, flat
    if said.out:
        words = {4: "INCONCLUSIVE: ", 5: "NOT COMPARABLE: "}
        assert said.out.startswith(words[code])
    else:
        assert said.err.startswith("evalkit: ")


def test_what_is_whole_passes(gate, candidate):
    assert gate(candidate).code == 0


@pytest.mark.parametrize(
    ("tasks", "epochs", "told"),
    [
        (1, 1, "1 task with a value"),
        (1, 30, "1 task with a value"),
        (9, 1, "9 tasks with"),
        (16, 1, "16 tasks cannot"),
    ],
)
def test_too_few_tasks(gate, made_run, tmp_path, tasks, epochs, told):
    few = made_run(tmp_path / "few", fine, tasks=tasks, epochs=epochs, scorers=("success",))
    clear(gate(few, baseline=few), INCONCLUSIVE, told)


RUNS = {
    "empty": ({"tasks": 0}, "has no trials"),
    "one-trial": ({"tasks": 1}, "did not try made/t001"),
    "fewer-tasks": ({"tasks": 79}, "did not try made/t079"),
    "unscored": ({"play": unscored(80)}, "80 of 80 trials of a in the candidate are unscored"),
    "some-unscored": ({"play": unscored(5)}, "5 of 80 trials of a in the candidate are unscored (6.25 %)"),
    "never-scored": ({"scorers": ()}, "the candidate has no value of success at all"),
    "other-task": (
        {"play": lambda task, _: {"task_digest": "new"} if task == 3 else {}},
        "the task of made/t003",
    ),
    "other-grader": ({"play": lambda *_: {"grader_digest": "g2"}}, "the grader of made/t000 has changed"),
    "other-suite": ({"play": lambda *_: {"suite_digest": "s2"}}, "the suite made has changed"),
    "another-suite": (
        {"play": lambda *_: {"suite": "else"}, "planned": False},
        "no trials of the suite else",
    ),
    "two-agents": (
        {"play": lambda task, _: {"agent": "b" if task % 2 else "c"}, "planned": False},
        "no agent is in both",
    ),
    "one-agent-more": (
        {"play": lambda task, _: {"agent": "b" if task == 79 else "a"}, "planned": False},
        "the agent b of the candidate is not in the baseline",
    ),
}


@pytest.mark.parametrize(("given", "told"), RUNS.values(), ids=RUNS)
def test_runs_that_cannot_be_compared(gate, made_run, tmp_path, given, told):
    given = {"play": fine, "epochs": 1, "scorers": ("success",), **given}
    clear(gate(made_run(tmp_path / "run", **given)), NOT_COMPARABLE, told)


def edited(run: Path, folder: Path, table: str, change) -> Path:
    """A copy of the run, a table's only file changed."""
    copy = folder / "damaged"
    shutil.copytree(run, copy)
    (path,) = (copy / table).glob("*.parquet")
    change(path)
    return copy


def cut(path):
    path.write_bytes(path.read_bytes()[:-60])


def rewrite(change):
    def apply(path):
        table = pq.read_table(path)
        pq.write_table(change(table), path)

    return apply


def with_value(name, place, value):
    def change(table):
        values = table.column(name).to_pylist()
        values[place] = value
        field = table.schema.field(name)
        return table.set_column(table.schema.get_field_index(name), field, pa.array(values, field.type))

    return rewrite(change)


@pytest.mark.parametrize(
    ("table", "change", "code", "told"),
    [
        ("trials", cut, USAGE, "trials"),
        ("scores", cut, USAGE, "scores"),
        (
            "trials",
            rewrite(lambda table: table.slice(1)),
            NOT_COMPARABLE,
            "1 of 80 planned trials of the candidate",
        ),
        (
            "trials",
            rewrite(lambda table: pa.concat_tables([table, table.slice(0, 1)])),
            USAGE,
            "Move one of the two files out of the run",
        ),
        ("trials", with_value("status", 0, "solved"), USAGE, "solved"),
        ("trials", with_value("agent", 0, None), USAGE, "agent"),
        (
            "scores",
            rewrite(lambda table: table.slice(0, 0)),
            NOT_COMPARABLE,
            "has no value of success at all",
        ),
    ],
    ids=["cut", "cut-scores", "row-gone", "row-twice", "bad-status", "no-agent", "no-score"],
)
def test_damaged_runs(gate, candidate, tmp_path, table, change, code, told):
    clear(gate(edited(candidate, tmp_path, table, change)), code, told)


def test_two_scores_of_a_trial_that_differ_are_none(gate, candidate, tmp_path):
    def change(table):
        success = [name == "success" for name in table.column("metric").to_pylist()]
        place = success.index(True)
        field = table.schema.field("value")
        again = table.slice(place, 1)
        zero = again.set_column(table.schema.get_field_index("value"), field, pa.array([0.0], field.type))
        return pa.concat_tables([table, zero])

    clear(
        gate(edited(candidate, tmp_path, "scores", rewrite(change))),
        NOT_COMPARABLE,
        "it has two, which differ",
    )


def test_settings_that_a_baseline_does_not_have_are_no_crash(gate, baseline, candidate):
    def edit(data):
        del data["runs"][0]["settings"]["a"]["model"]

    assert gate(candidate, baseline=baseline(edit)).code == 0


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_never_taken_for_one(gate, candidate, tmp_path, value):
    def change(table):
        values = [value if name == "success" else old for name, old in zip(
            table.column("metric").to_pylist(), table.column("value").to_pylist(), strict=True
        )]  # fmt: skip
        field = table.schema.field("value")
        return table.set_column(table.schema.get_field_index("value"), field, pa.array(values, field.type))

    said = gate(edited(candidate, tmp_path, "scores", rewrite(change)))
    assert said.code in (NOT_COMPARABLE, USAGE)


def test_places_that_are_no_run(gate, folder):
    (folder / "file").write_text("x")
    (folder / "empty").mkdir()
    for name in ("nowhere", "file", "empty"):
        clear(gate(name), USAGE, name)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "no JSON object"),
        (
            '{"schema_version": 999, "run_id": "r", "created_at": "2026-01-01T00:00:00+00:00"}',
            "schema version 999",
        ),
    ],
)
def test_a_run_whose_description_is_damaged(gate, candidate, tmp_path, text, told):
    shutil.copytree(candidate, tmp_path / "run")
    (tmp_path / "run" / "run.json").write_text(text)
    clear(gate(tmp_path / "run"), USAGE, told)


@pytest.fixture
def baseline(command, accepted, folder):
    """The accepted run as a file, with something changed in it."""
    path = folder / "base.json"

    def change(edit):
        assert command("baseline", "accept", str(accepted), "--why", "x", "--file", str(path)).code == 0
        data = json.loads(path.read_text())
        edit(data)
        path.write_text(json.dumps(data))
        return path

    return change


def without_key(data):
    del data["runs"]


def of(entry, **values):
    entry.update(values)


EDITS = {
    "newer": (lambda data: of(data, version=2), USAGE, "version 2, and this evalkit reads up to 1"),
    "version-text": (lambda data: of(data, version="1"), USAGE, "no baseline: version"),
    "other-format": (lambda data: of(data, format="other"), USAGE, "no baseline of evalkit"),
    "key-gone": (without_key, USAGE, "no baseline: runs"),
    "key-more": (lambda data: of(data, more=1), USAGE, "no baseline: more"),
    "no-runs": (lambda data: of(data, runs=[]), USAGE, "no baseline: runs"),
    "nan": (
        lambda data: of(data["tasks"][0]["scores"], **{"success/success": [math.nan]}),
        USAGE,
        "NaN is no number",
    ),
    "text": (
        lambda data: of(data["tasks"][0]["scores"], **{"success/success": ["1"]}),
        USAGE,
        "success/success",
    ),
    "letter": (lambda data: of(data["tasks"][0], status="x"), USAGE, "status"),
    "lengths": (lambda data: of(data["tasks"][0], status="pp"), USAGE, "has 1 epochs, and not as many"),
    "twice": (
        lambda data: data["tasks"].append(data["tasks"][0]),
        USAGE,
        "a task of an agent is there twice",
    ),
    "no-such-run": (lambda data: of(data["tasks"][0], run=7), USAGE, "is of a run that is not there"),
    "below-0": (lambda data: of(data["tasks"][0], run=-1), USAGE, "no baseline: tasks.0.run"),
    "unknown-score": (
        lambda data: of(data["tasks"][0]["scores"], more=[1]),
        USAGE,
        "more are not among its scores",
    ),
    "not-whole": (
        lambda data: of(data["tasks"][0], planned=[1, 2]),
        NOT_COMPARABLE,
        "is not there: made/t000, epoch 2",
    ),
    "contradiction": (
        lambda data: of(data["tasks"][0], status="f"),
        NOT_COMPARABLE,
        "contradict what the grader said",
    ),
    "run-twice": (lambda data: data["runs"].append(data["runs"][0]), USAGE, "a run is there twice"),
    "no-suites": (
        lambda data: of(data["runs"][0], suites={}),
        USAGE,
        "of a suite that its run does not name",
    ),
    "other-weight": (lambda data: of(data["tasks"][0], weight=0), NOT_COMPARABLE, "another weight"),
    "no-value": (
        lambda data: data["tasks"][0]["scores"].pop("success/success"),
        NOT_COMPARABLE,
        "no value of success",
    ),
    "no-tasks": (lambda data: of(data, tasks=[]), NOT_COMPARABLE, "has no trials"),
    "other-version": (
        lambda data: [of(s, versions=["0"]) for s in data["scores"]],
        NOT_COMPARABLE,
        "another version",
    ),
    "other-reference": (
        lambda data: [of(s, references=["r0"]) for s in data["scores"]],
        NOT_COMPARABLE,
        "reference costs",
    ),
    "out-of-range": (
        lambda data: of(data["tasks"][0]["scores"], **{"success/success": [7]}),
        NOT_COMPARABLE,
        "success in the baseline cannot be read",
    ),
}


@pytest.mark.parametrize(("edit", "code", "told"), EDITS.values(), ids=EDITS)
def test_damaged_baselines(gate, baseline, candidate, edit, code, told):
    clear(gate(candidate, baseline=baseline(edit)), code, told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"", "no baseline"),
        (b"\xff\xfe\x00", "no baseline"),
        (b"[" * 100_000, "no baseline"),
        (b'{"format": "evalkit-baseline", "version": 1', "no baseline"),
        (b"null", "no baseline of evalkit"),
    ],
    ids=["empty", "binary", "deep", "cut", "null"],
)
def test_files_that_are_no_baseline(gate, candidate, folder, text, told):
    (folder / "base.json").write_bytes(text)
    clear(gate(candidate, baseline="base.json"), USAGE, told)


@pytest.mark.parametrize(
    ("spec", "code", "told"),
    [
        ("git:main", USAGE, "names no file of a git revision"),
        ("git:--help:x", USAGE, "names no file of a git revision"),
        ("git:nowhere:x.json", NOT_COMPARABLE, "git has no nowhere:x.json"),
        ("nowhere.json", USAGE, "nowhere.json"),
    ],
)
def test_baselines_that_are_not_there(gate, candidate, spec, code, told):
    clear(gate(candidate, baseline=spec), code, told)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--format", "junti"), "there is no format 'junti'"),
        (("--format", "json,junit"), "only one format can be printed"),
        (("--map", "a"), "names no two agents"),
        (("--map", "x=a"), "has no agent 'x'"),
        (("--policy", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_options_that_are_none(gate, candidate, args, told):
    clear(gate(candidate, *args), USAGE, told)
