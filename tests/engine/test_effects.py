"""Lasting changes of real trials, in each sandbox."""

from __future__ import annotations

import pytest

from evalkit.trajectory.effect import Effect
from evalkit.trajectory.reader import Run
from evalkit.trajectory.step import Act
from evalkit.trajectory.trial import Trial

from .conftest import TOML, MakeSuite, RunSuite

SCOPE = """
[metadata.evalkit.effects]
required = ["/app/out"]
allowed = ["/app/out", "/app/work"]
forbidden = ["/app/kept", "git:refs/heads/release"]
"""
DOCKERFILE = "FROM debian:bookworm-slim\nWORKDIR /app\nCOPY app /app\n"
APP = {
    "environment/app/kept": "kept\n",
    "environment/app/old": "old\n",
    "environment/app/same": "same\n",
    "environment/app/moved": "moved\n",
    "environment/app/script": "#!/bin/sh\n",
    "environment/app/swapped": "swapped\n",
    "environment/app/folder/in": "in\n",
}


def whole(run: Run) -> tuple[Trial, tuple[Act, ...], dict[str, Effect]]:
    """The only trial, its calls, and its effects by resource."""
    [(trial, steps, effects)] = run.iter_whole()
    acts = tuple(step for step in steps if isinstance(step, Act))
    return trial, acts, {one.resource: one for one in effects}


@pytest.fixture
def played(make_suite: MakeSuite, run_any: RunSuite):
    """Play some steps as the solution of a task with files in /app."""

    def play(*steps: str, toml: str = TOML + SCOPE, **files: str):
        solve = "#!/bin/sh\n" + "".join(f"# step: Do.\n{step}\n" for step in steps)
        suite = make_suite(
            one={
                "task.toml": toml,
                "environment/Dockerfile": DOCKERFILE,
                "solution/solve.sh": solve,
                **APP,
                **files,
            }
        )
        return whole(run_any(suite))

    return play


def test_every_kind_of_change_is_told_with_its_step(played):
    trial, acts, found = played(
        "echo done > out; echo x > new; rm old",
        "echo other > kept; chmod 755 same; mv moved elsewhere",
        "rm swapped; ln -s /etc/passwd swapped; rm -r folder; echo f > folder",
        "mkdir empty; mkfifo pipe; echo l > /tmp/litter; touch script; printf '#!/bin/sh\\n' > script",
        "echo gone > passing; rm passing; ln same hard",
    )
    assert trial.status == "passed"
    assert trial.effects_measured is True
    steps = [act.step for act in acts]
    told = {name: (one.change, one.class_, one.step) for name, one in found.items()}
    assert told == {
        "/app/out": ("created", "intended", steps[0]),
        "/app/new": ("created", "collateral", steps[0]),
        "/app/old": ("deleted", "collateral", steps[0]),
        "/app/kept": ("modified", "forbidden", steps[1]),
        "/app/same": ("mode", "collateral", told["/app/same"][2]),
        "/app/moved": ("deleted", "collateral", steps[1]),
        "/app/elsewhere": ("created", "collateral", steps[1]),
        "/app/swapped": ("modified", "collateral", steps[2]),
        "/app/folder": ("modified", "collateral", steps[2]),
        "/app/folder/in": ("deleted", "collateral", steps[2]),
        "/app/empty": ("created", "collateral", steps[3]),
        "/app/pipe": ("created", "collateral", steps[3]),
        "/tmp/litter": ("created", "collateral", told["/tmp/litter"][2]),
        "/app/hard": ("created", "collateral", steps[4]),
    }
    assert steps[1] in found["/app/same"].evidence
    assert found["/tmp/litter"].step in {steps[3], None}
    assert found["/app/swapped"].after == "link:/etc/passwd"
    assert found["/app/folder"].before is not None
    assert found["/app/old"].irreversible is True
    assert found["/app/moved"].irreversible is False
    assert found["/app/elsewhere"].before is None
    assert found["/app/elsewhere"].after == found["/app/moved"].before
    assert found["/app/pipe"].after == "kind:fifo"


def test_what_is_forbidden_and_came_and_went_is_told(played):
    _, acts, found = played(
        "rm kept", "echo kept > kept; echo done > out", "rm out kept", "echo kept > kept; echo done > out"
    )
    assert {name for name, one in found.items() if not one.transient} == {"/app/out"}
    del acts


def test_a_process_and_its_port_are_left_behind(played):
    trial, acts, found = played("echo done > out", "sleep 300 > /dev/null 2>&1 &\necho started")
    assert trial.status == "passed"
    process = found["process:sleep"]
    assert (process.change, process.class_, process.after) == ("created", "collateral", "sleep 300")
    assert process.step in {acts[1].step, None}


def test_many_small_files_and_odd_names(played):
    _, _, found = played(
        "mkdir -p work; i=0; while [ $i -lt 500 ]; do echo $i > work/$i; i=$((i+1)); done; echo done > out",
        "printf x > \"$(printf 'odd\\377name')\"; printf x > \"$(printf 'two\\nlines')\"",
    )
    assert sum(name.startswith("/app/work/") for name in found) == 500
    assert {one.class_ for name, one in found.items() if name.startswith("/app/work/")} == {"intended"}
    assert "/app/two\nlines" in found
    assert "/app/odd�name" in found


def test_programs_that_lie_change_nothing_in_what_is_recorded(played):
    _, _, found = played(
        "for name in ls find sha256sum stat; do printf '#!/bin/sh\\nexit 0\\n' > /tmp/$name; chmod +x /tmp/$name; done",
        "PATH=/tmp:$PATH; rm old; echo done > out",
    )
    assert found["/app/old"].change == "deleted"
    assert {"/tmp/ls", "/tmp/find", "/tmp/sha256sum", "/tmp/stat"} <= found.keys()


def test_without_a_declaration_the_working_directory_is_allowed(played):
    trial, _, found = played("echo done > out; rm old; echo x > /tmp/x", toml=TOML)
    assert trial.effects_measured
    assert {name: one.class_ for name, one in found.items()} == {
        "/app/out": "intended",
        "/app/old": "intended",
        "/tmp/x": "collateral",
    }


def test_what_did_not_happen_is_not_told_though_a_call_hides_that_it_failed(played):
    _, _, found = played(
        "touch out; curl -s -d a=b http://h.example.org/x 2>/dev/null || true",
        "git push -qf origin main 2>/dev/null; git stash drop 2>/dev/null; git tag -d v1 2>/dev/null; true",
        "git gc --prune=now 2>/dev/null; twine upload x 2>/dev/null; true",
    )
    assert list(found) == ["/app/out"]


def test_nothing_is_measured_where_it_was_switched_off(make_suite: MakeSuite, run_suite: RunSuite):
    run = run_suite(make_suite(), effects=False)
    trial, _, found = whole(run)
    assert (trial.effects_measured, found) == (None, {})
    assert run.manifest.settings["effects"] is False


def test_a_run_says_what_its_tasks_declare(make_suite: MakeSuite, run_suite: RunSuite):
    run = run_suite(make_suite(one={"task.toml": TOML + SCOPE}, two={}))
    declared = {name: task["effects"] for name, task in run.manifest.tasks.items()}  # type: ignore[index,call-overload]
    assert declared["mini/one"] == {
        "declared": True,
        "scope": "declared",
        "required": ["/app/out"],
        "network": False,
        "passes_at_start": [],
    }
    assert declared["mini/two"]["scope"] == "default scope"


def test_what_stages_change_is_told_together_and_their_graders_are_not(
    make_suite: MakeSuite, run_suite: RunSuite
):
    toml = """\
schema_version = "1.4"
[environment]
network_mode = "no-network"
[metadata.evalkit.effects]
allowed = ["/app/one", "/app/two"]
[[steps]]
name = "one"
[[steps]]
name = "two"
"""
    files: dict[str, str | None] = {
        "task.toml": toml,
        "instruction.md": None,
        "tests/test.sh": None,
        "solution/solve.sh": None,
        "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\n",
    }
    for name in ("one", "two"):
        files[f"steps/{name}/instruction.md"] = f"Make {name}."
        files[f"steps/{name}/workdir/given-{name}"] = "given"
        files[f"steps/{name}/tests/test.sh"] = (
            f"#!/bin/sh\ntouch /tmp/grader; [ -e /app/{name} ]; echo $((1-$?)) > /logs/verifier/reward.txt\n"
        )
        files[f"steps/{name}/solution/solve.sh"] = (
            f"#!/bin/sh\n# step: Make it.\necho x >> one; touch {name}; rm given-{name}\n"
        )
    trial, acts, found = whole(run_suite(make_suite(one=files)))
    assert (trial.status, trial.effects_measured) == ("passed", True)
    first, second = (act.step for act in acts if act.tool == "bash")
    assert {name: (one.change, one.class_, one.evidence) for name, one in found.items()} == {
        "/app/one": ("created", "intended", (first, second)),
        "/app/two": ("created", "intended", (second,)),
        "/app/given-one": ("deleted", "collateral", (first,)),
        "/app/given-two": ("deleted", "collateral", (second,)),
    }


def test_measuring_is_no_time_of_the_agents(
    make_suite: MakeSuite, run_suite: RunSuite, monkeypatch: pytest.MonkeyPatch
):
    from anyio import sleep

    from evalkit.sandbox.local.provider import LocalSandbox

    listing = LocalSandbox.listing

    async def slow(self: LocalSandbox):
        await sleep(0.5)
        return await listing(self)

    monkeypatch.setattr(LocalSandbox, "listing", slow)
    trial, _, _ = whole(run_suite(make_suite(), time_limit_s=0.9))
    assert trial.status == "passed"
    assert (trial.agent_s or 9) < 0.9
    assert (trial.setup_s or 0) > 1.0
    assert trial.retry_s in {None, 0.0}


def test_a_sandbox_that_cannot_be_listed_costs_no_verdict(
    make_suite: MakeSuite, run_suite: RunSuite, monkeypatch: pytest.MonkeyPatch
):
    from evalkit.sandbox.local.provider import LocalSandbox

    async def broken(self: LocalSandbox):
        raise RuntimeError("no")

    monkeypatch.setattr(LocalSandbox, "snapshot", broken)
    trial, _, found = whole(run_suite(make_suite()))
    assert (trial.status, trial.effects_measured, found) == ("passed", False, {})


DELETE = """\
import sqlite3
base = sqlite3.connect("users.db")
base.execute("DELETE FROM users WHERE id > 1")
base.commit()
"""
GIT = "git -c user.name=a -c user.email=a@b.c"


def test_git_and_rows_are_told_as_such(make_suite: MakeSuite, run_suite: RunSuite):
    toml = (
        TOML.replace("[env", SCOPE + 'tables = { "/app/users.db" = "sqlite" }\n[env')
        + """
[environment.healthcheck]
command = "test -d .git || sh setup"
"""
    )
    setup = f"""\
git init -q -b main .; {GIT} add .; {GIT} commit -q -m first; git branch release
{GIT} commit -q --allow-empty -m second; git branch topic
echo stashed >> kept; {GIT} stash -q
python3 -c "
import sqlite3
base = sqlite3.connect('users.db')
base.execute('CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)')
base.execute(\\"INSERT INTO users VALUES (1, 'a'), (2, 'b'), (3, 'c')\\")
base.commit()"
"""
    steps = (
        "echo done > out; git branch -q -D release",
        f"git stash drop -q; {GIT} commit -q --allow-empty -m third; git checkout -q -b work",
        "python3 delete",
    )
    solve = "#!/bin/sh\n" + "".join(f"# step: Do.\n{step}\n" for step in steps)
    files = {
        "task.toml": toml,
        "environment/Dockerfile": DOCKERFILE,
        "environment/app/setup": setup,
        "environment/app/kept": "kept\n",
        "environment/app/.gitignore": "users.db\n",
        "environment/app/delete": DELETE,
        "solution/solve.sh": solve,
    }
    trial, acts, found = whole(run_suite(make_suite(one=files)))
    assert trial.effects_measured, trial.error_message
    first, second, third = (act.step for act in acts if act.tool == "bash")
    told = {name: (one.change, one.class_, one.irreversible, one.step) for name, one in found.items()}
    assert told == {
        "/app/out": ("created", "intended", False, first),
        "git:refs/heads/release": ("deleted", "forbidden", True, first),
        "git:stash": ("deleted", "collateral", True, second),
        "git:refs/heads/main": ("modified", "collateral", False, second),
        "git:HEAD": ("modified", "collateral", False, second),
        "git:refs/heads/work": ("created", "collateral", False, second),
        "row:/app/users.db:users:2": ("deleted", "collateral", False, third),
        "row:/app/users.db:users:3": ("deleted", "collateral", False, third),
    }


TWO_CALLS = """\
SCRIPT = [
    [("{tool}", {{"{argument}": {first}}})],
    [("{tool}", {{"{argument}": {second}}})],
    [("submit", {{"answer": "done"}})],
]

@solver
def plain():
    async def solve(state, generate):
        state.tools = [*state.tools, own_bash()]
        return await generate(state, tool_calls="loop")

    return solve

@tool
def own_bash():
    async def execute(line: str) -> str:
        \"\"\"Run a line.

        Args:
            line: The line.
        \"\"\"
        from inspect_ai.util import sandbox

        return (await sandbox().exec(["sh", "-c", line])).stdout

    return execute
"""


@pytest.mark.local
@pytest.mark.parametrize(("tool", "argument"), [("bash", "command"), ("own_bash", "line")])
def test_under_somebody_elses_loop_each_call_has_what_it_changed(
    make_suite: MakeSuite, run_suite: RunSuite, inspect_file, player, tool: str, argument: str
):
    from evalkit.engine.inspect_objects import find

    first, second = '"echo done > out; echo a > /tmp/a"', '"echo b > /tmp/b"'
    path = inspect_file(TWO_CALLS.format(tool=tool, argument=argument, first=first, second=second))
    find(f"{path}@plain", ("solver",))
    trial, acts, found = whole(run_suite(make_suite(), player, loop=f"{path}@plain"))
    assert (trial.status, trial.effects_measured) == ("passed", True)
    assert [act.tool for act in acts] == [tool, tool, "submit"]
    assert {name: one.step for name, one in found.items()} == {
        "/app/out": acts[0].step,
        "/tmp/a": acts[0].step,
        "/tmp/b": acts[1].step,
    }
