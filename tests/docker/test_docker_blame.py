"""What the task got wrong is the task's fault, and the message says where to change it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.errors import SandboxError, TaskError
from evalkit.sandbox import Environment, Limits
from evalkit.sandbox.docker.complaint import raise_for
from evalkit.sandbox.docker.support import check_docker

pytestmark = [pytest.mark.anyio, pytest.mark.docker]


def dockerfile(folder: Path, text: str) -> Path:
    (folder / "Dockerfile").write_text(text)
    return folder / "Dockerfile"


@pytest.mark.parametrize("name", ["UPPER/Case", "a b", "debian:x:y", "http://host/name"])
async def test_a_name_that_no_image_can_have_is_the_tasks_fault(open_docker, name: str) -> None:
    with pytest.raises(TaskError, match="no image's name") as refused:
        await open_docker(Environment(image=name))
    assert "docker_image in task.toml" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("FORM debian\n", "line 1: unknown instruction: FORM"),
        ("", "cannot be empty"),
        ("RUN true\n", "no build stage"),
        ("FROM UPPER/x\n", "'UPPER/x' is no image's name"),
        ("FROM debian:bookworm-slim\nCOPY missing /x\n", "stat missing"),
    ],
    ids=["unknown instruction", "empty", "no FROM", "bad name", "nothing to copy"],
)
async def test_a_dockerfile_that_can_never_be_built_is_the_tasks_fault(
    open_docker, tmp_path: Path, text: str, said: str
) -> None:
    broken = dockerfile(tmp_path, text)
    for _ in range(2):
        with pytest.raises(TaskError, match="cannot be built") as refused:
            await open_docker(Environment(dockerfile=broken))
        assert said in refused.value.message
        assert refused.value.where == str(broken)
        assert "Change the Dockerfile" in (refused.value.hint or "")


async def test_a_user_that_the_image_does_not_know_is_the_tasks_fault(open_docker) -> None:
    with pytest.raises(TaskError, match="no user nobody-here in the image") as refused:
        await open_docker(Environment(user="nobody-here"))
    assert "[agent]" in (refused.value.hint or "")


async def test_a_user_that_was_removed_inside_is_not_the_tasks_fault(open_docker) -> None:
    sandbox = await open_docker()
    assert (await sandbox.exec("sed -i /^games:/d /etc/passwd")).exit_code == 0
    with pytest.raises(SandboxError, match="no user games inside any more"):
        await sandbox.exec("true", user="games")


async def test_less_memory_than_a_container_needs_is_the_tasks_fault(open_docker) -> None:
    with pytest.raises(TaskError, match="memory_mb = 4 is too little") as refused:
        await open_docker(Environment(limits=Limits(memory_mb=4)))
    assert "task.toml" in (refused.value.hint or "")


async def test_the_first_line_of_a_failed_build_says_which_command_failed(
    open_docker, tmp_path: Path
) -> None:
    command = "printf '\\033[31mred\\033[0m\\n'; echo on stderr >&2; exit 2"
    broken = dockerfile(tmp_path, f"FROM debian:bookworm-slim\nRUN {command}\n")
    with pytest.raises(SandboxError) as refused:
        await open_docker(Environment(dockerfile=broken))
    first, *rest = refused.value.message.splitlines()
    assert first == f"the image cannot be built: RUN {command}: exit code 2"
    assert {"red", "on stderr"} <= set(rest)
    assert "\x1b" not in refused.value.message


@pytest.mark.parametrize(
    ("host", "problem"),
    [
        ("unix://{folder}/file", "{folder}/file is no socket"),
        ("unix://{folder}", "{folder} is no socket"),
        ("garbage", "DOCKER_HOST is no address of an engine"),
        ("unix://", "DOCKER_HOST is no address of an engine"),
        ("tcp://127.0.0.1:99999", "DOCKER_HOST is no address of an engine"),
        ("npipe:////./pipe/docker", "DOCKER_HOST is no address of an engine"),
        ("tcp://127.0.0.1:9", "nothing listens at tcp://127.0.0.1:9"),
        ("unix://{folder}/nothing", "there is no container engine here"),
    ],
)
@pytest.mark.filterwarnings("ignore:unclosed <socket")
def test_an_engine_that_cannot_be_reached_is_one_sentence_that_names_the_place(
    monkeypatch: pytest.MonkeyPatch, open_folder: Path, host: str, problem: str
) -> None:
    (open_folder / "file").touch()
    host, problem = host.format(folder=open_folder), problem.format(folder=open_folder)
    monkeypatch.setenv("DOCKER_HOST", host)
    assert check_docker().problem == f"DOCKER_HOST={host} (from the environment): {problem}"


def test_what_an_engine_refuses_names_the_path_as_it_is_inside() -> None:
    from requests import Request, Response

    answer = Response()
    answer.status_code, answer._content = 500, b'{"message": "no"}'
    answer.request = Request("GET", "http://engine/v1/archive", params={"path": "/app/a file=1"}).prepare()
    with pytest.raises(SandboxError, match="could not use /app/a file=1: no"):
        raise_for(answer)
