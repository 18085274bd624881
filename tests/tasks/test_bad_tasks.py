"""Every mistake in a task gives one ConfigError: file, line where known, and a hint where there is one."""

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from evalkit.errors import ConfigError
from evalkit.tasks.task import load_task

EVALKIT = "[metadata.evalkit]\n"
FAULT = '[[metadata.evalkit.faults]]\nid = "f"\n'

# name: (task.toml, text that follows the path of task.toml, hint)
BAD_TOML: dict[str, tuple[str, str, str | None]] = {
    "an unclosed string": ('source = "x\n', ":1: not valid TOML: Illegal character '\\n'", None),
    "a key given twice": (
        "[agent]\ntimeout_sec = 1\ntimeout_sec = 2\n",
        ":3: not valid TOML: Cannot overwrite a value",
        None,
    ),
    "a bare word": ("[agent]\nuser = me\n", ":2: not valid TOML: Invalid value", None),
    "deep nesting": ("a = " + "[" * 5000, ": values are nested too deeply", None),
    "many levels of tables": (
        f"[{'.'.join('a' * 60)}]\n",
        ": values are nested too deeply: at most 40 levels are read",
        None,
    ),
    "a number of 10,000 digits": (
        "a = 0x" + "f" * 10_000,
        ": not valid TOML: a number has more than 64 bits",
        None,
    ),
    "a negative timeout": (
        "[agent]\n# seconds\ntimeout_sec = -5\n",
        ":3: agent.timeout_sec: should be greater than 0, not -5",
        None,
    ),
    "a NaN timeout": (
        "[verifier]\ntimeout_sec = nan\n",
        ":2: verifier.timeout_sec: should be a finite number, not nan",
        None,
    ),
    "an infinite build": (
        "[environment]\nbuild_timeout_sec = inf\n",
        ":2: environment.build_timeout_sec: should be a finite number, not inf",
        None,
    ),
    "no CPU": (
        "[environment]\ncpus = 0\n",
        ":2: environment.cpus: should be greater than 0, not 0",
        None,
    ),
    "negative memory": (
        "[environment]\nmemory_mb = -1\n",
        ":2: environment.memory_mb: should be greater than 0, not -1",
        None,
    ),
    "a size without a unit": (
        '[environment]\nmemory = "lots"\n',
        ":2: environment.memory should be a size such as 512M or 2G",
        None,
    ),
    "two sizes": (
        '[environment]\nmemory = "1G"\nmemory_mb = 5\n',
        ":2: memory (1024 MB) and memory_mb (5) contradict each other",
        "Keep memory_mb and delete memory.",
    ),
    "internet that is no boolean": (
        '[environment]\nallow_internet = "no"\n',
        ":2: environment.allow_internet should be true or false",
        None,
    ),
    "an unknown network mode": (
        '[agent]\nnetwork_mode = "off"\n',
        ":2: agent.network_mode: should be 'no-network', 'public' or 'allowlist', not 'off'",
        None,
    ),
    "hosts without an allowlist": (
        '[agent]\nnetwork_mode = "public"\nallowed_hosts = ["pypi.org"]\n',
        ':1: agent: allowed_hosts needs network_mode = "allowlist"',
        None,
    ),
    "a host with a scheme": (
        '[agent]\nnetwork_mode = "allowlist"\nallowed_hosts = ["https://pypi.org"]\n',
        (
            ":3: agent.allowed_hosts: 'https://pypi.org' should be a host name, an address or a CIDR range, "
            "without scheme or port"
        ),
        None,
    ),
    "a Windows task": (
        '[environment]\nos = "Windows"\n',
        ":2: this task is for Windows; evalkit runs Linux tasks only",
        None,
    ),
    "a shared verifier with an environment": (
        '[verifier]\nenvironment_mode = "shared"\n[verifier.environment]\ncpus = 1\n',
        ':1: verifier: environment_mode = "shared" and [verifier.environment] exclude each other',
        None,
    ),
    "an artifact that climbs": (
        'artifacts = ["/app/../etc"]\n',
        ":1: artifacts[0]: '/app/../etc' should not contain '..'",
        None,
    ),
    "an absolute destination": (
        'artifacts = [\n  "/app/a",\n  { source = "/app/b", destination = "/etc/b" },\n]\n',
        (
            ":3: artifacts[1].destination: an artifact's destination should be a relative path below the "
            "artifacts, not '/etc/b'"
        ),
        None,
    ),
    "a package without organisation": (
        '[task]\nname = "sum"\n',
        ":2: task.name: 'sum' should have the form organisation/name",
        None,
    ),
    "an MCP server without url": (
        '[[environment.mcp_servers]]\nname = "x"\n',
        ":1: environment.mcp_servers[0]: an MCP server over sse needs url",
        None,
    ),
    "a step without a name": (
        "[[steps]]\nmin_reward = 1.0\n",
        ":1: steps[0].name: this key is required",
        None,
    ),
    "a step that leaves the task": (
        '[[steps]]\nname = "../x"\n',
        ":2: steps[0].name: '../x' cannot be the name of a folder on every system",
        None,
    ),
    "two steps of one name": (
        '[[steps]]\nname = "a"\n[[steps]]\nname = "A"\n',
        ":1: steps: two steps have the name 'A'",
        None,
    ),
    "a table that is none": ("agent = 3\n", ":1: agent: should be a table", None),
    "settings that are no table": (
        "[metadata]\nevalkit = 1\n",
        ":2: metadata.evalkit should be a table",
        None,
    ),
    "an unknown setting": (
        EVALKIT + 'skill = ["x"]\n',
        ":2: unknown key metadata.evalkit.skill",
        "Did you mean skills?",
    ),
    "an unknown setting of grading": (
        "[metadata.evalkit.grading]\nzzz = 1\n",
        ":2: unknown key metadata.evalkit.grading.zzz",
        "Known here: checks, honeypots, keep, mode, naive, nonce.",
    ),
    "a grading mode that does not exist": (
        '[metadata.evalkit.grading]\nmode = "seald"\n',
        ":2: metadata.evalkit.grading.mode: should be 'sealed', 'snapshot' or 'shared', not 'seald'",
        None,
    ),
    "a relative deliverable": (
        '[metadata.evalkit.grading]\nkeep = ["/app/a", "out"]\n',
        ":2: metadata.evalkit.grading.keep[1]: 'out' should be an absolute path",
        None,
    ),
    "nothing to seal": (
        '[metadata.evalkit.grading]\nmode = "sealed"\n',
        ":2: sealed grading needs something to be delivered, and nothing is",
        'List what the agent makes under keep, such as keep = ["/app/out"].',
    ),
    "a check listed twice": (
        '[metadata.evalkit.grading]\nchecks = ["a", "a"]\n',
        ":2: metadata.evalkit.grading.checks: 'a' is listed twice",
        None,
    ),
    "a milestone that is no check": (
        EVALKIT + 'milestones = ["b"]\ngrading = { checks = ["a"] }\n',
        ":1: metadata.evalkit: 'b' is not among grading.checks (a)",
        None,
    ),
    "an infinite pass reward": (
        EVALKIT + "pass_reward = inf\n",
        ":2: metadata.evalkit.pass_reward: should be a finite number, not inf",
        None,
    ),
    "less than no thinking": (
        EVALKIT + "thinking_tokens = -1\n",
        ":2: metadata.evalkit.thinking_tokens: should be greater than or equal to 0, not -1",
        None,
    ),
    "a number written as text": (
        EVALKIT + 'minutes = "5"\n',
        ":2: metadata.evalkit.minutes: should be a valid number, not '5'",
        None,
    ),
    "a difficulty that does not exist": (
        EVALKIT + 'difficulty = "brutal"\n',
        ":2: metadata.evalkit.difficulty: should be 'easy', 'medium' or 'hard', not 'brutal'",
        None,
    ),
    "confidence without an answer": (
        EVALKIT + "confidence = true\n",
        ':1: metadata.evalkit: confidence is asked of an answer, so it needs answer = "text"',
        None,
    ),
    "a port out of range": (
        "[metadata.evalkit.effects]\nports = [80, 70000]\n",
        ":2: metadata.evalkit.effects.ports[1]: should be less than or equal to 65535, not 70000",
        None,
    ),
    "a relative effect": (
        '[metadata.evalkit.effects]\nallowed = ["out/**"]\n',
        (
            ":2: metadata.evalkit.effects.allowed[0]: 'out/**' should be an absolute path, or start with "
            "git:, package:, network:, row:, process:, socket:"
        ),
        None,
    ),
    "two faults of one id": (
        (FAULT + 'kind = "empty"\n') * 2,
        ":1: metadata.evalkit.faults: two faults have the id 'f'",
        None,
    ),
    "a fault of no kind": (
        FAULT,
        ":1: metadata.evalkit.faults[0].kind: this key is required",
        None,
    ),
    "a fault with a broken pattern": (
        FAULT + 'kind = "empty"\nwhen = { matches = "curl (" }\n',
        (
            ":4: metadata.evalkit.faults[0].when.matches: not a valid regular expression: missing ), "
            "unterminated subpattern at position 5"
        ),
        None,
    ),
    "a fault that strikes the 0th call": (
        FAULT + 'kind = "empty"\nwhen = { nth = 0 }\n',
        ":4: metadata.evalkit.faults[0].when.nth: should be greater than or equal to 1, not 0",
        None,
    ),
    "a fault with two ends": (
        FAULT + 'kind = "permission"\ntimes = 1\nuntil = "true"\n',
        ":1: metadata.evalkit.faults[0]: fault 'f' has both times and until; keep one",
        None,
    ),
    "a fault with another kind's setting": (
        FAULT + 'kind = "empty"\nretry_after_s = 3\n',
        ":1: metadata.evalkit.faults[0]: fault 'f': retry_after_s belongs to rate_limit, not to empty",
        None,
    ),
    "a silent timeout": (
        FAULT + 'kind = "timeout"\nloud = false\n',
        ":1: metadata.evalkit.faults[0]: fault 'f': timeout is always loud",
        None,
    ),
    "a full disk nowhere": (
        FAULT + 'kind = "disk_full"\n',
        ":1: metadata.evalkit.faults[0]: fault 'f': disk_full needs path, the folder that is full",
        None,
    ),
    "a fault called clean": (
        '[[metadata.evalkit.faults]]\nid = "clean"\nkind = "empty"\n',
        ":2: metadata.evalkit.faults[0].id: 'clean' is the name of another variant of every task",
        None,
    ),
    "a twin of no known kind": (
        '[metadata.evalkit.twin]\nkind = "evil"\n',
        ":2: metadata.evalkit.twin.kind: should be 'contradicting-check' or 'must-not-change', not 'evil'",
        None,
    ),
    "the root as working directory": (
        '[environment]\nworkdir = "/"\n',
        ":2: the working directory should be a folder of the task's own, not /",
        "Set workdir under [environment], or WORKDIR in the Dockerfile.",
    ),
    "a working directory that climbs": (
        '[environment]\nworkdir = "/app/../.."\n',
        ":2: environment.workdir: '/app/../..' should not contain '..'",
        None,
    ),
}


@pytest.mark.parametrize("mistake", BAD_TOML)
def test_a_mistake_in_task_toml_gives_one_exact_error(write_task: Callable[..., Path], mistake: str) -> None:
    toml, expected, hint = BAD_TOML[mistake]
    task = write_task(toml)

    with pytest.raises(ConfigError) as caught:
        load_task(task)

    assert str(caught.value).split("\n")[0] == f"{task}/task.toml{expected}"
    assert caught.value.hint == hint


def _broken(root: Path, kind: str) -> None:
    """Break one file of a valid task."""
    target = root / "instruction.md"
    target.unlink()
    match kind:
        case "folder":
            target.mkdir()
        case "pipe":
            os.mkfifo(target)
        case "latin-1":
            target.write_bytes(b"one\ntw\xf6\n")
        case "huge":
            target.write_bytes(b"x" * (1024 * 1024 + 1))
        case "outside link":
            target.symlink_to("/etc/hostname")
        case "circle":
            target.symlink_to("instruction.md")
        case "blank":
            target.write_text(" \n\n")
        case _:
            pass


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("missing", "/instruction.md: the file does not exist\nWrite there what the agent is to do."),
        ("folder", "/instruction.md: a file was expected, this is a folder"),
        (
            "pipe",
            (
                "/instruction.md: a pipe, socket or device cannot be part of a task\n"
                "Delete it, or let the task's set-up make it."
            ),
        ),
        ("latin-1", "/instruction.md:2: not UTF-8: byte 0xf6\nSave the file as UTF-8."),
        ("huge", "/instruction.md: the file is too large: 1,048,577 bytes, at most 1,048,576 are read"),
        (
            "outside link",
            (
                "/instruction.md: the link leads outside the folder, to /etc/hostname\n"
                "Copy the file into the folder instead of linking to it."
            ),
        ),
        ("circle", "/instruction.md: the link leads back to itself"),
        ("blank", "/instruction.md: the instruction is empty\nWrite there what the agent is to do."),
    ],
)
def test_an_unusable_instruction_gives_one_exact_error(
    write_task: Callable[..., Path], kind: str, expected: str
) -> None:
    task = write_task()
    _broken(task, kind)

    with pytest.raises(ConfigError) as caught:
        load_task(task)

    assert str(caught.value) == f"{task}{expected}"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"task.toml": None},
            (
                "/task.toml: the file does not exist\n"
                "A task folder holds task.toml, instruction.md and tests/test.sh."
            ),
        ),
        (
            {"tests/test.sh": None},
            (
                "/tests/test.sh: the file does not exist\n"
                "The grader runs this script; it writes a reward to /logs/verifier/reward.txt."
            ),
        ),
        (
            {"environment/Dockerfile": "FROM a\nWORKDIR /app\nCOPY ../secret .\n"},
            "/environment/Dockerfile:3: COPY: '../secret' leaves the build context",
        ),
    ],
)
def test_a_missing_or_wrong_file_is_named(
    write_task: Callable[..., Path], files: dict[str, str | None], expected: str
) -> None:
    task = write_task(files=files)

    with pytest.raises(ConfigError) as caught:
        load_task(task)

    assert str(caught.value) == f"{task}{expected}"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing: a task folder was expected here"):
        load_task(tmp_path / "nothing")


def test_a_file_instead_of_a_task_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    with pytest.raises(ConfigError, match=r"file: a task folder was expected here"):
        load_task(tmp_path / "file")


def test_a_name_that_is_too_long_for_the_system_gives_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="File name too long"):
        load_task(tmp_path / ("x" * 5000))


def test_a_link_in_a_deeper_folder_that_leads_outside_is_named(write_task: Callable[..., Path]) -> None:
    task = write_task()
    (task / "environment" / "data").symlink_to("../../..")

    with pytest.raises(ConfigError) as caught:
        load_task(task)

    assert caught.value.where == str(task / "environment" / "data")
    assert caught.value.message == "the link leads outside the folder, to ../../.."


def test_a_link_to_a_folder_around_it_is_named(write_task: Callable[..., Path]) -> None:
    task = write_task()
    (task / "environment" / "again").symlink_to("../environment")

    with pytest.raises(ConfigError, match=r"environment/again: the link leads back to a folder around it"):
        load_task(task)


def test_a_link_that_stays_inside_is_accepted(write_task: Callable[..., Path]) -> None:
    task = write_task()
    (task / "environment" / "same.csv").symlink_to("orders.csv")

    assert load_task(task).id == "sum"


def test_a_file_name_that_is_not_utf8_is_named(write_task: Callable[..., Path]) -> None:
    task = write_task()
    (Path(os.fsdecode(os.fsencode(task) + b"/tests/\xff"))).write_text("x")

    with pytest.raises(ConfigError, match=r"tests: the name '\\udcff' is not UTF-8"):
        load_task(task)


@pytest.mark.parametrize("name", ["task.toml", "instruction.md", "tests", "environment/orders.csv"])
def test_what_may_not_be_read_is_named(
    write_task: Callable[..., Path],
    open_folder: Path,
    somebody: Callable[[], AbstractContextManager[None]],
    name: str,
) -> None:
    task = Path(shutil.copytree(write_task(), open_folder / "sum"))
    (task / name).chmod(0)
    with somebody(), pytest.raises(ConfigError) as caught:
        load_task(task)
    (task / name).chmod(0o755)
    assert "Permission denied" in str(caught.value)
    assert str(task / name) in str(caught.value)
