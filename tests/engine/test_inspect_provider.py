"""Any Inspect task can run in evalkit's sandboxes."""

from __future__ import annotations

from pathlib import Path

import inspect_ai
import pytest
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.solver import Generate, TaskState, solver
from inspect_ai.util import OutputLimitExceededError, sandbox

from evalkit.errors import ModelError


class Unfinished(Exception):
    """The evaluation failed, with this message, whole however long the paths in it are."""


@pytest.fixture
def inside(tmp_path: Path, sandbox_kind: str):
    """Run a coroutine as the solver of an Inspect sample whose sandbox is ours; returns what it returned."""

    def run(work, config: str | None = None, **sample):
        provider = f"evalkit-{sandbox_kind}"
        results = []

        @solver
        def plain():
            async def solve(state: TaskState, generate: Generate) -> TaskState:
                results.append(await work(sandbox()))
                return state

            return solve

        task = inspect_ai.Task(
            dataset=MemoryDataset([Sample("go", id="one", **sample)]),
            solver=plain(),
            sandbox=provider if config is None else (provider, config),
        )
        (log,) = inspect_ai.eval(
            task,
            model="mockllm/model",
            display="none",
            log_dir=str(tmp_path),
            ctl_server=False,
            log_realtime=False,
        )
        if log.status != "success":
            raise Unfinished(log.error.message if log.error else log.status)
        return results[0]

    return run


def test_programs_run_with_input_environment_and_their_own_exit_code(inside):
    async def work(box):
        done = await box.exec(["sh", "-c", 'cat; echo "$WORD" >&2; exit 4'], input="in\n", env={"WORD": "w"})
        return done.returncode, done.stdout, done.stderr, done.success

    assert inside(work) == (4, "in\n", "w\n", False)


def test_files_are_written_read_and_missed(inside):
    async def work(box):
        await box.write_file("deep/er/note.txt", "a\r\nb")
        with pytest.raises(FileNotFoundError):
            await box.read_file("missing")
        with pytest.raises(IsADirectoryError):
            await box.read_file("deep")
        await box.write_file("raw", b"\xff\x00")
        with pytest.raises(UnicodeDecodeError):
            await box.read_file("raw")
        return await box.read_file("deep/er/note.txt"), await box.read_file("raw", text=False)

    assert inside(work) == ("a\r\nb", b"\xff\x00")


def test_a_timeout_is_a_timeout_error_and_the_sandbox_goes_on(inside):
    async def work(box):
        with pytest.raises(TimeoutError):
            await box.exec(["sleep", "30"], timeout=1)
        return (await box.exec(["echo", "on"])).stdout

    assert inside(work) == "on\n"


def test_a_file_over_the_limit_is_refused_as_inspect_wants(inside):
    async def work(box):
        await box.exec(["truncate", "-s", "101M", "big"])
        with pytest.raises(OutputLimitExceededError):
            await box.read_file("big")
        return True

    assert inside(work)


def test_a_samples_files_and_setup_are_there(inside):
    async def work(box):
        return (await box.exec(["cat", "given.txt", "made.txt"])).stdout

    assert inside(work, files={"given.txt": "given\n"}, setup="echo made > made.txt") == "given\nmade\n"


def test_it_has_no_network(inside):
    async def work(box):
        return [
            name for name in (await box.exec(["cat", "/proc/net/dev"])).stdout.split() if name.endswith(":")
        ]

    assert inside(work) == ["lo:"]


@pytest.mark.parametrize("sandbox_kind", [pytest.param("docker", marks=pytest.mark.docker)])
def test_a_dockerfile_says_what_it_is_made_from(inside, tmp_path, sandbox_kind, docker_support):
    (tmp_path / "Dockerfile").write_text("FROM debian:bookworm-slim\nENV FROM_IMAGE=yes\nWORKDIR /srv/own\n")

    async def work(box):
        return (await box.exec(["sh", "-c", "echo $FROM_IMAGE; pwd"])).stdout

    assert inside(work, str(tmp_path / "Dockerfile")) == "yes\n/srv/own\n"


@pytest.mark.parametrize("sandbox_kind", [pytest.param("docker", marks=pytest.mark.docker)])
def test_a_compose_file_is_refused_by_name(inside, tmp_path, sandbox_kind, docker_support):
    (tmp_path / "compose.yaml").write_text("services: {}\n")
    with pytest.raises(Unfinished, match=r"cannot be made from .*compose\.yaml"):
        inside(lambda box: None, str(tmp_path / "compose.yaml"))


def test_a_scripted_model_outside_a_trial_says_where_it_plays():
    async def ask():
        return await get_model("scripted/oracle").generate("hello")

    import anyio

    with pytest.raises(ModelError, match="evalkit run SUITE"):
        anyio.run(ask)
