"""What cannot be honoured is refused by name, before anything is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.errors import UsageError
from evalkit.grading.unsupported import refuse_unsupported, refuse_without_docker, remarks
from evalkit.tasks.task import Task, load_task

QUIET = '[environment]\nnetwork_mode = "no-network"\n'
STEP = '[[steps]]\nname = "one"\n'


@pytest.fixture
def task_of(tmp_path: Path):
    """Write a task with one step folder and read it."""

    def make(toml: str, **files: str) -> Task:
        whole = {
            "task.toml": toml,
            "instruction.md": "Go.\n",
            "tests/test.sh": "true\n",
            "environment/Dockerfile": "FROM debian:bookworm-slim\n",
            "steps/one/instruction.md": "Go.\n",
            "steps/two/instruction.md": "Go.\n",
        } | {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()}
        for name, text in whole.items():
            path = tmp_path / "task" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return load_task(tmp_path / "task")

    return make


@pytest.mark.parametrize(
    ("toml", "named"),
    [
        (QUIET + "gpus = 1\n", "gpus"),
        (QUIET + 'tpu = { type = "v5", topology = "2x2" }\n', "tpu"),
        (QUIET + 'mcp_servers = [{ name = "x", url = "http://x" }]\n', r"\[\[environment.mcp_servers\]\]"),
        (QUIET + "[verifier.environment]\ngpus = 1\n", r"\[verifier.environment\] gpus"),
        (QUIET + '[verifier.environment]\nos = "windows"\n', 'os = "windows"'),
        ('[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.org"]\n', "allowlist"),
        (STEP + '[steps.agent]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.org"]\n', "allowlist"),
        (QUIET + '[verifier.environment]\nnetwork_mode = "allowlist"\n', "allowlist"),
        ('[[artifacts]]\nsource = "/d"\nservice = "db"\n' + QUIET, "artifacts of the service 'db'"),
        (QUIET + '[[verifier.collect]]\ncommand = "x"\nservice = "db"\n', "in the service 'db'"),
        (QUIET + STEP + '[[steps.verifier.collect]]\ncommand = "x"\nservice = "db"\n', "in the service 'db'"),
        (QUIET + '[verifier]\nnetwork_mode = "public"\n', "another network mode than the agent's"),
        ('[agent]\nnetwork_mode = "no-network"\n', "another network mode than the agent's"),
        (
            QUIET + STEP + '[[steps]]\nname = "two"\n[steps.agent]\nnetwork_mode = "public"\n',
            "steps whose agents have different network modes",
        ),
        (
            QUIET + '[verifier.environment]\n[metadata.evalkit.grading]\nmode = "snapshot"\n',
            r"\[verifier.environment\] with grading.mode = \"snapshot\"",
        ),
        (QUIET + STEP + 'artifacts = ["/tests/x"]\n', "grader's own folders"),
    ],
)
def test_it_is_named(task_of, toml, named):
    with pytest.raises(UsageError, match=named) as caught:
        refuse_unsupported(task_of(toml))
    assert caught.value.where.endswith("task/task.toml")


@pytest.mark.parametrize(
    "toml",
    [
        QUIET,
        QUIET + "gpus = 0\nhealthcheck = { command = 'true' }\n",
        QUIET + STEP + '[[steps]]\nname = "two"\nmin_reward = 1\n',
        QUIET + "[verifier.environment]\ncpus = 2\n",
        'artifacts = ["/app/out"]\n' + QUIET + '[verifier]\nnetwork_mode = "public"\n',
        QUIET + '[[verifier.collect]]\ncommand = "x"\n',
    ],
)
def test_what_can_be_honoured_is_not_refused(task_of, toml):
    task = task_of(toml)
    refuse_unsupported(task)
    refuse_without_docker(task)


def test_several_containers_are_refused(task_of):
    with pytest.raises(UsageError, match=r"several containers \(environment/docker-compose.yaml\)"):
        refuse_unsupported(task_of(QUIET, **{"environment__docker-compose_dot_yaml": "services: {}\n"}))


def test_a_compose_file_among_the_tests_matters_only_to_a_separate_verifier(task_of):
    compose = {"tests__docker-compose_dot_yaml": "services: {}\n"}
    refuse_unsupported(task_of(QUIET, **compose))
    with pytest.raises(UsageError, match=r"tests/docker-compose\.yaml"):
        refuse_unsupported(task_of(QUIET + "[verifier.environment]\n", **compose))


def test_a_setup_in_another_network_than_the_agents_is_refused(task_of):
    toml = '[environment]\nnetwork_mode = "public"\n' + "".join(
        f'[{who}]\nnetwork_mode = "no-network"\n' for who in ("agent", "verifier")
    )
    refuse_unsupported(task_of(toml + STEP))
    with pytest.raises(UsageError, match=r"a setup\.sh of a step"):
        refuse_unsupported(task_of(toml + STEP, steps__one__workdir__setup_dot_sh="true\n"))


@pytest.mark.parametrize(
    ("toml", "files", "named"),
    [
        (QUIET + '[verifier.environment]\ndocker_image = "judge:1"\n', {}, "image of its own, judge:1"),
        (
            QUIET + "[verifier.environment]\n",
            {"tests__Dockerfile": "FROM debian\nRUN make\n"},
            "RUN make at tests/Dockerfile:2",
        ),
        (
            QUIET + '[agent]\nuser = "a"\n[verifier]\nuser = "b"\n',
            {},
            r"several users in one sandbox \(a, b\)",
        ),
        (
            QUIET + STEP + '[steps.agent]\nuser = "a"\n[[steps]]\nname = "two"\n[steps.agent]\nuser = "b"\n',
            {},
            "several users",
        ),
    ],
)
def test_what_only_containers_can_do_is_refused_locally(task_of, toml, files, named):
    task = task_of(toml, **files)
    refuse_unsupported(task)
    with pytest.raises(UsageError, match=f"needs docker: .*{named}"):
        refuse_without_docker(task)


def test_a_graders_image_may_be_the_agents(task_of):
    refuse_without_docker(
        task_of(QUIET + 'docker_image = "x:1"\n[verifier.environment]\ndocker_image = "x:1"\n')
    )


def test_what_changes_nothing_is_remarked(task_of):
    toml = 'artifacts = [{ source = "/app/out", destination = "x" }]\n' + QUIET + 'skills_dir = "/skills"\n'
    said = remarks(task_of(toml))
    assert ["destination" in said[0], "skills_dir" in said[1], len(said)] == [True, True, 2]
