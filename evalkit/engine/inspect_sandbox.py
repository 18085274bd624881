"""How does Inspect use evalkit's sandboxes?

Any Inspect task can name the provider `evalkit-local`, or `evalkit-docker` with a Dockerfile. Trials of our own
suites ask for it with `lazy = True`: the sandbox is made but not started, because the trial itself starts it, on its
own clock.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Literal, overload

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
)
from pydantic import BaseModel, ConfigDict

from evalkit.errors import SandboxError, TaskError, UsageError
from evalkit.sandbox import SandboxKind, open_sandbox
from evalkit.sandbox.protocol import Environment, Sandbox

_READ_CAP = 100 * 1024 * 1024
FOREIGN = Environment(workdir="/workspace", network=False)
COMPOSE_FILES = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")


class SandboxRequest(BaseModel):
    """What sandbox an Inspect sample gets."""

    model_config = ConfigDict(frozen=True)

    environment: Environment
    run_id: str
    trial_id: str
    runtime: str | None = None
    lazy: bool = False

    def __hash__(self) -> int:
        """Inspect keeps requests in sets; an environment's variables cannot be hashed."""
        return hash((self.run_id, self.trial_id))


class InspectSandbox(SandboxEnvironment):
    """One of evalkit's sandboxes behind Inspect's interface."""

    kind: SandboxKind = "local"

    def __init__(self, inner: Sandbox, *, started: bool) -> None:
        super().__init__()
        self.inner = inner
        self.started = started

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Make the sample's sandbox, and start it unless the request is lazy."""
        if isinstance(config, SandboxRequest):
            request = config
        else:
            request = SandboxRequest(
                environment=cls._foreign(config),
                run_id=f"inspect-{task_name}",
                trial_id=str(metadata.get("__sample_id__", "sample")),
            )
        inner = open_sandbox(
            cls.kind,
            request.environment,
            run_id=request.run_id,
            trial_id=request.trial_id,
            runtime=request.runtime,
        )
        if not request.lazy:
            await inner.start()
        return {"default": cls(inner, started=not request.lazy)}

    @classmethod
    def _foreign(cls, config: SandboxEnvironmentConfigType | None) -> Environment:
        """What somebody else's task asks for: nothing, or a Dockerfile. Raises UsageError for anything else."""
        if config is None:
            return FOREIGN
        if cls.kind == "docker" and isinstance(config, str) and "Dockerfile" in Path(config).name:
            return replace(FOREIGN, workdir="", dockerfile=Path(config).absolute())
        named = config if isinstance(config, str) else type(config).__name__
        raise UsageError(
            f"the {cls.kind} sandbox cannot be made from {named}",
            hint="evalkit-docker takes a Dockerfile, no compose file; evalkit-local takes nothing.",
        )

    @classmethod
    def config_files(cls) -> list[str]:
        """Files beside a task that say what its sandbox is made from; a compose file is found so that it is refused."""
        return [*COMPOSE_FILES, "Dockerfile"] if cls.kind == "docker" else []

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Stop the sample's sandbox; nothing of it is left."""
        del task_name, config, interrupted
        for environment in environments.values():
            await environment.as_type(InspectSandbox).inner.stop()

    @classmethod
    def config_deserialize(cls, config: dict[str, object]) -> BaseModel:
        """Read a request back from a log."""
        return SandboxRequest.model_validate(config)

    async def exec(  # noqa: PLR0917  the signature is Inspect's
        self,
        cmd: list[str],
        input: str | bytes | None = None,  # noqa: A002  the name is Inspect's
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a program. Its whole process tree ends with a timeout; output that is cut says so."""
        del timeout_retry, concurrency
        if not self.started:
            raise SandboxUserUnsupportedError("this sandbox is started by its trial")
        stdin = input.encode() if isinstance(input, str) else input
        try:
            done = await self.inner.exec(cmd, cwd=cwd, env=env, user=user, stdin=stdin, timeout_s=timeout)
        except (SandboxError, TaskError) as error:
            raise SandboxUnavailableError(str(error)) from error
        if done.timed_out:
            raise TimeoutError(f"Command timed out after {timeout} s: {shlex.join(cmd)[:200]}")
        code = -1 if done.exit_code is None else done.exit_code
        return ExecResult(code == 0, code, done.stdout.text, done.stderr.text)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file, making its folders."""
        data = contents.encode() if isinstance(contents, str) else contents
        await self.inner.write_file(file, data)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...
    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...
    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Read a file; text must be UTF-8, and its newlines stay as they are."""
        try:
            data = await self.inner.read_file(file, max_bytes=_READ_CAP)
        except SandboxError as error:
            raise OutputLimitExceededError(f"{_READ_CAP} bytes", None) from error
        return data.decode("utf-8") if text else data
