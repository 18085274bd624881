"""Runs in real containers: what an image sets reaches the agent, and what the engine cannot do is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.engine.prepare import RunFlags, prepare
from evalkit.engine.start import start
from evalkit.errors import UsageError
from evalkit.sandbox.docker.engine import connect
from evalkit.trajectory.reader import Run
from evalkit.trajectory.step import Act, Event

CORE = Path(__file__).parents[2] / "suites/core"

SAY = """\
#!/bin/sh
# step: Say what is there.
mkdir -p /app 2>/dev/null; echo done > /app/out; echo "$GREETING $(pwd) $(id -u) ${PATH%%:*}"
"""

pytestmark = pytest.mark.docker


def observations(run: Run) -> list[str]:
    return [act.observation or "" for _, steps in run.iter_trials() for act in steps if isinstance(act, Act)]


def test_the_oracle_passes_core_and_doing_nothing_fails_it(run_docker) -> None:
    run = run_docker(CORE, "scripted/oracle", "scripted/nop")
    said = {(row.model, row.status, row.error_message) for row in run.rows()}
    assert said == {("scripted/oracle", "passed", None), ("scripted/nop", "failed", None)}


def test_a_row_says_which_engine_and_image_it_ran_on(run_docker, make_suite) -> None:
    run = run_docker(make_suite())
    (row,) = run.rows()
    version = connect().version
    assert row.sandbox == "docker"
    assert row.sandbox_runtime == f"{version.name} {version.version}"
    assert row.image_digest is not None
    assert row.image_digest.startswith("sha256:")
    assert row.build_s is not None
    assert run.manifest.versions["docker"] == row.sandbox_runtime


@pytest.mark.parametrize(
    ("dockerfile", "told"),
    [
        ("WORKDIR /srv/work\nENV GREETING=hello PATH=/opt/own:$PATH\n", "hello /srv/work 0 /opt/own"),
        (
            "ENV GREETING=a\nENV GREETING=$GREETING-b\nWORKDIR /srv\nWORKDIR sub\n",
            "a-b /srv/sub 0 /usr/local/sbin",
        ),
        (
            "RUN useradd -m agent && mkdir /app && chown agent /app\nUSER agent\n",
            " /app 1000 /usr/local/sbin",
        ),
    ],
    ids=["variables", "relative", "user"],
)
def test_what_the_image_sets_reaches_the_agent(run_docker, make_suite, dockerfile, told) -> None:
    files = {"environment/Dockerfile": f"FROM debian:bookworm-slim\n{dockerfile}", "solution/solve.sh": SAY}
    run = run_docker(make_suite(one=files))
    (row,) = run.rows()
    assert row.status == "passed", row.error_message
    assert told in observations(run)[0]


def test_a_task_may_name_an_image_in_place_of_a_dockerfile(run_docker, make_suite) -> None:
    toml = 'schema_version = "1.4"\nartifacts = ["/app/out"]\n[environment]\nnetwork_mode = "no-network"\n'
    files = {"task.toml": f'{toml}docker_image = "debian:bookworm-slim"\n', "environment/Dockerfile": None}
    (row,) = run_docker(make_suite(one=files)).rows()
    assert (row.status, row.error_message) == ("passed", None)
    assert row.image_digest == connect().image("debian:bookworm-slim").id


@pytest.mark.parametrize(
    ("dockerfile", "said"),
    [
        ("FROM localhost:1/no-such-image:1\n", "no-such-image"),
        ("FROM debian:bookworm-slim\nRUN echo about to fail; exit 7\n", "about to fail"),
    ],
    ids=["no base", "failing"],
)
def test_an_image_that_cannot_be_built_costs_its_own_trials_only(
    run_docker, make_suite, dockerfile, said
) -> None:
    run = run_docker(make_suite(broken={"environment/Dockerfile": dockerfile}, sound={}))
    broken, sound = sorted(run.rows(), key=lambda row: row.task_id)
    assert (broken.status, broken.error_origin, broken.stop_reason) == ("unscored", "sandbox", "error")
    assert said in (broken.error_message or "")
    assert sound.status == "passed"


def test_without_an_engine_nothing_is_begun(make_suite, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    asked = RunFlags(suites=(str(make_suite()),), sandbox="docker", out=tmp_path / "run")
    with pytest.raises(UsageError, match="no container engine") as refused:
        start(prepare(asked), progress=None)  # pyright: ignore[reportArgumentType]  refused before it is used
    assert "--sandbox local" in (refused.value.hint or "")
    assert not (tmp_path / "run").exists()


def test_a_runtime_is_not_dropped_where_it_cannot_be_had(
    run_docker, make_suite, tmp_path, monkeypatch
) -> None:
    suite, out = make_suite(), tmp_path / "unknown-runtime"
    (tmp_path / "evalkit.toml").write_text('[sandbox]\nruntime = "no-such-runtime"\n')
    monkeypatch.chdir(tmp_path)
    asked = RunFlags(suites=(str(suite),), sandbox="docker", out=out)
    with pytest.raises(UsageError, match="no runtime called no-such-runtime") as refused:
        start(prepare(asked), progress=None)  # pyright: ignore[reportArgumentType]  refused before it is used
    assert "evalkit.toml" in (refused.value.where or "")
    assert "runc" in (refused.value.hint or "")
    assert not out.exists()
    with pytest.raises(UsageError, match="no-such-runtime"):
        run_docker(suite, sandbox="local", out="other")


def test_more_processors_than_there_are_is_said_in_the_record(run_docker, make_suite) -> None:
    toml = 'schema_version = "1.4"\nartifacts = ["/app/out"]\n[environment]\nnetwork_mode = "no-network"\ncpus = 4096\n'
    ((row, steps),) = run_docker(make_suite(one={"task.toml": toml})).iter_trials()
    assert row.status == "passed"
    (limit, *_) = [step for step in steps if isinstance(step, Event)]
    assert limit.event == "limit"
    assert "4096" in (limit.detail or "")
