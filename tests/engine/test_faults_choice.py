"""Which faults are planned: a task's own, a plan file's, or none; what is wrong in a plan is said with its place."""

from __future__ import annotations

import pytest

from evalkit.engine.prepare import RunFlags, prepare
from evalkit.errors import ConfigError, UsageError

OWN = '\n[[metadata.evalkit.faults]]\nid = "own"\nkind = "empty"\n'
PLAN = '[[faults]]\nid = "more"\nkind = "timeout"\nfast = true\ntasks = "o*"\n'


@pytest.fixture
def prepared(make_suite, tmp_path, monkeypatch):
    """Runs of the tasks `one` and `two`, of which `one` has a fault; in a project that says `toml`."""
    from textwrap import dedent

    monkeypatch.chdir(tmp_path)
    head = dedent("""\
        schema_version = "1.4"
        artifacts = ["/app/out"]
        [environment]
        network_mode = "no-network"
        """)

    def ready(own: str = OWN, toml: str = "", **flags):
        suite = make_suite(one={"task.toml": head + own}, two={})
        (tmp_path / "evalkit.toml").write_text(toml)
        asked = RunFlags(suites=(str(suite),), models=("scripted/oracle",), **flags)
        return prepare(asked)

    return ready


@pytest.fixture
def planned(prepared):
    """The variants of their tasks."""

    def plan(*args, **flags):
        return [(trial.task.id, trial.variant, trial.epoch) for trial in prepared(*args, **flags).plan]

    return plan


@pytest.fixture
def warned(prepared):
    """What is warned about before they run."""

    def warnings(*args, **flags):
        return prepared(*args, **flags).warnings

    return warnings


@pytest.fixture
def plan_file(tmp_path):
    def write(text: str) -> str:
        (tmp_path / "plan.toml").write_text(text)
        return str(tmp_path / "plan.toml")

    return write


def test_each_fault_of_a_task_is_a_variant_after_the_clean_one(planned):
    assert planned(epochs=2) == [
        ("one", "clean", 1),
        ("one", "clean", 2),
        ("one", "own", 1),
        ("one", "own", 2),
        ("two", "clean", 1),
        ("two", "clean", 2),
    ]


def test_none_plans_the_clean_variants_alone(planned):
    assert planned(faults="none") == [("one", "clean", 1), ("two", "clean", 1)]


def test_a_plan_file_adds_its_faults_to_the_tasks_that_it_names(planned, plan_file):
    assert planned(faults=plan_file(PLAN)) == [
        ("one", "clean", 1),
        ("one", "own", 1),
        ("one", "more", 1),
        ("two", "clean", 1),
    ]


def test_evalkit_toml_says_the_same_and_a_flag_beats_it(planned, plan_file):
    plan_file(PLAN)
    assert ("one", "more", 1) in planned(toml='[run]\nfaults = "plan.toml"\n')
    assert ("one", "more", 1) not in planned(toml='[run]\nfaults = "plan.toml"\n', faults="none")
    assert len(planned(toml='[run]\nfaults = "none"\n')) == 2


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ('[[faults]]\nid = "x"\nkind = "emty"\n', ":3", "faults[0].kind: should be 'timeout', "),
        (
            '[[faults]]\nid = "x"\nkind = "empty"\nwhen = { nht = 1 }\n',
            ":4",
            "unknown key faults[0].when.nht",
        ),
        (
            PLAN.replace("o*", "nope*"),
            ":5",
            "faults[0].tasks: the fault 'more' is for 'nope*', and no task is called so",
        ),
        (
            PLAN + PLAN.replace("more", "y").replace("o*", "onne"),
            ":10",
            "faults[1].tasks: the fault 'y' is for 'onne', and no task is called so",
        ),
        (
            '[[faults]]\nkind = "disk_full"\nid = "x"\npath = "/app"\n',
            ":3",
            "the fault 'x' cannot fill /app: the working directory /app lies in it",
        ),
        (PLAN.replace("more", "own"), ":2", "faults[0].id: the task 'one' already has a fault 'own'"),
        (PLAN + PLAN, ":7", "faults[1].id: the task 'one' already has a fault 'more'"),
        (
            '[[faults]]\nid = "x"\nkind = "empty"\nwhen = { tool = "bsh" }\n',
            ":4",
            "faults[0].when: the fault 'x' strikes calls of 'bsh', and no agent has a tool of that name",
        ),
        (
            '[[faults]]\nid = "x"\nkind = "empty"\nwhen = { tool = "submit" }\n',
            ":4",
            "faults[0].when.tool: submit ends the trial and is never struck",
        ),
        ("", "", "faults: this key is required"),
        ("faults = []", ":1", "faults: should have at least 1 item"),
        ("fault = 1\n" + PLAN, ":1", "unknown key fault"),
        ("[[faults]\n", ":1", "not valid TOML"),
    ],
)
def test_a_mistake_in_a_plan_names_file_and_key(planned, plan_file, text, where, message):
    path = plan_file(text)
    with pytest.raises(ConfigError) as caught:
        planned(faults=path)
    assert caught.value.where == path + where
    assert caught.value.message.startswith(message)


def test_a_fault_of_the_plan_for_a_task_that_was_not_chosen_is_no_mistake(planned, plan_file):
    both = PLAN + PLAN.replace("more", "other").replace("o*", "t*")
    assert planned(faults=plan_file(both), task="two") == [("two", "clean", 1), ("two", "other", 1)]


def test_a_plan_for_none_of_the_chosen_tasks_is_a_mistake(planned, plan_file):
    with pytest.raises(ConfigError, match="none of the plan's faults is for any task of this run"):
        planned(faults=plan_file(PLAN), task="two")


def test_the_nearest_task_is_named(planned, plan_file):
    with pytest.raises(ConfigError) as caught:
        planned(faults=plan_file(PLAN.replace("o*", "onne")))
    assert caught.value.hint == "Did you mean one?"


def test_a_plan_that_is_not_there_is_a_mistake(planned):
    with pytest.raises(UsageError, match="there is no such fault plan"):
        planned(faults="nowhere.toml")


OTHER = OWN.replace('"empty"', '"empty"\nwhen = { tool = "bsh" }')


def test_a_tool_that_nobody_knows_is_warned_about(warned):
    assert warned(own=OTHER) == (
        "the fault 'own' of mini/one strikes calls of 'bsh', and no tool is known by that name. Did you mean bash?",
    )


@pytest.mark.parametrize(
    ("own", "flags", "said"),
    [
        (OWN.replace("empty", "timeout"), {"time_limit_s": 60}, ["waits 120 s, and the agent has 60 s"]),
        (
            OWN.replace('"empty"', '"timeout"\nwait_s = 5'),
            {"time_limit_s": 5},
            ["waits 5 s, and the agent has 5 s"],
        ),
        (OWN.replace('"empty"', '"timeout"\nwait_s = 5'), {"time_limit_s": 6}, []),
        (OWN.replace('"empty"', '"timeout"\nfast = true'), {"time_limit_s": 1}, []),
        (OWN, {"time_limit_s": 1}, []),
    ],
)
def test_a_wait_that_outlasts_the_agents_time_is_warned_about(warned, own, flags, said):
    warnings = warned(own=own, **flags)
    assert [any(part in one for one in warnings) for part in said] == [True] * len(said)
    assert len(warnings) == len(said)
