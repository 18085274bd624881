"""An Inspect task runs in the sandbox that it asks for, or is refused by name before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai.util import SandboxEnvironmentSpec

from evalkit.engine.inspect_place import DEFAULT_IMAGE, place_of
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.errors import UsageError

DOCKER = SandboxEnvironmentSpec("docker")


def compose(folder: Path, text: str) -> SandboxEnvironmentSpec:
    (folder / "compose.yaml").write_text(text)
    return SandboxEnvironmentSpec("docker", "compose.yaml")


def test_none_local_and_docker_go_where_they_ask(tmp_path):
    assert place_of(None, tmp_path, None) is None
    assert place_of(SandboxEnvironmentSpec("local"), tmp_path, None).kind == "local"
    assert place_of(SandboxEnvironmentSpec("local"), tmp_path, "docker").kind == "docker"
    bare = place_of(DOCKER, tmp_path, None)
    assert (bare.kind, bare.environment.image) == ("docker", DEFAULT_IMAGE)
    assert place_of(DOCKER, tmp_path, "local").kind == "local"


def test_a_dockerfile_beside_the_task_is_found(tmp_path):
    (tmp_path / "Dockerfile").write_text("FROM debian:bookworm-slim\n")
    place = place_of(DOCKER, tmp_path, None)
    assert place.environment.dockerfile == tmp_path / "Dockerfile"
    assert not place.environment.network


def test_a_compose_file_of_one_service_says_image_user_limits_and_network(tmp_path):
    spec = compose(
        tmp_path,
        """\
services:
  default:
    image: debian:bookworm-slim
    command: tail -f /dev/null
    init: true
    network_mode: none
    working_dir: /srv
    user: nobody
    environment: {WORD: there}
    mem_limit: 512m
    cpus: 1.5
""",
    )
    environment = place_of(spec, tmp_path, None).environment
    assert (environment.image, environment.workdir, environment.user) == (
        "debian:bookworm-slim",
        "/srv",
        "nobody",
    )
    assert (environment.env, environment.network) == ({"WORD": "there"}, False)
    assert (environment.limits.memory_mb, environment.limits.cpus) == (512, 1.5)


def test_a_compose_file_builds_from_its_context(tmp_path):
    (tmp_path / "image").mkdir()
    (tmp_path / "image" / "Dockerfile").write_text("FROM debian:bookworm-slim\n")
    environment = place_of(compose(tmp_path, "services: {box: {build: ./image}}"), tmp_path, None).environment
    assert environment.dockerfile == tmp_path / "image" / "Dockerfile"
    assert environment.network


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("services: {one: {image: a}, two: {image: b}}", "2 services: one, two"),
        ("services: {one: {image: a, volumes: ['./x:/x']}}", "asks for volumes"),
        ("services: {one: {image: a, privileged: true, ports: ['80']}}", "asks for ports, privileged"),
        ("services: {one: {image: a, command: python serve.py}}", "a program of its own: python serve.py"),
        ("services: {one: {image: a, network_mode: host}}", "network_mode 'host'"),
        ("services: {one: {image: a, environment: [TOKEN]}}", "variables of the host: TOKEN"),
        ("services: {one: {user: root}}", "neither an image nor a build"),
        ("services: {one: {build: .}}", "there is no file"),
        ("services: {one: {image: a}}\nnetworks: {inner: {}}", "defines volumes or networks"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(tmp_path, text, says):
    with pytest.raises(UsageError, match=says):
        place_of(compose(tmp_path, text), tmp_path, None)


def test_other_kinds_of_sandboxes_are_refused_before_the_run(inspect_file, player):
    text = """\
SCRIPT = ["x"]

@task
def far() -> Task:
    return Task(dataset=MemoryDataset([Sample("Go.", sandbox=("k8s", "values.yaml"))]), scorer=includes())
"""
    with pytest.raises(UsageError, match="no sandbox of the kind 'k8s'"):
        prepare(RunFlags(suites=(f"inspect:{inspect_file(text)}@far",), models=(player,)))


def test_an_image_is_not_run_in_local(tmp_path):
    (tmp_path / "Dockerfile").write_text("FROM debian:bookworm-slim\n")
    with pytest.raises(UsageError, match="--sandbox local was asked for"):
        place_of(DOCKER, tmp_path, "local")


@pytest.mark.docker
def test_a_task_with_a_compose_file_runs_in_our_container(
    inspect_file, run_inspect, tmp_path, docker_support
):
    compose(
        tmp_path,
        "services: {default: {image: 'debian:bookworm-slim', network_mode: none, working_dir: /srv}}",
    )
    text = """\
SCRIPT = [[("bash", {"command": "pwd; cat /etc/debian_version"})], "done"]

@task
def boxed() -> Task:
    return Task(
        dataset=MemoryDataset([Sample("Go.", target="done")]),
        solver=[use_tools(bash()), generate()],
        scorer=includes(),
        sandbox="docker",
    )
"""
    run = run_inspect(f"{inspect_file(text)}@boxed")
    trial, steps = run.trial(run.rows()[0].trial_id)
    assert (trial.status, trial.sandbox, trial.error_message) == ("passed", "docker", None)
    assert next(step.observation for step in steps if step.kind == "act").startswith("/srv\n12")
