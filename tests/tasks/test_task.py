"""What a valid task comes to."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.tasks.settings import Settings
from evalkit.tasks.task import load_task

WriteTask = Callable[..., Path]

EVERYTHING_OF_OURS = """\
[metadata]
anything = "is free here"
[metadata.evalkit]
pass_reward = 0.5
requires = ["python3", "git"]
skills = ["debugging"]
difficulty = "easy"
minutes = 5
thinking_need = "low"
answer = "text"
confidence = true
milestones = ["unit", "integration"]
resource_args = { read_row = "id" }

[metadata.evalkit.grading]
mode = "sealed"
checks = ["unit", "integration"]
keep = ["/app/out/"]

[metadata.evalkit.effects]
required = ["/app/out/**"]
allowed = ["/app/**"]
forbidden = ["/app/users.db", "git:refs/heads/release"]
noise = ["/app/.cache/**"]
processes = ["redis-server"]
ports = [6379]
tables = { "/app/users.db" = "sqlite" }

[[metadata.evalkit.faults]]
id = "flaky-api"
when = { tool = "bash", matches = "curl .*orders", nth = 1 }
kind = "rate_limit"
times = 2

[[metadata.evalkit.faults]]
id = "wrong"
kind = "wrong_value"
canary = "CANARY-1"
until = "test -f /app/done"

[metadata.evalkit.twin]
kind = "contradicting-check"
"""


TWIN = {"twin/instruction.md": "Write nothing.\n"}


def test_a_task_is_known_by_the_name_of_its_folder(write_task: WriteTask) -> None:
    task = load_task(write_task(name="add-up"))

    assert task.id == "add-up"
    assert task.instruction == "Write the sum into /app/out/total.txt.\n"
    assert task.warnings == ()


def test_a_relative_path_loads_the_same_task(write_task: WriteTask, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_task()
    monkeypatch.chdir(path.parent)

    assert load_task(Path("sum")) == load_task(path)


def test_a_task_without_settings_has_the_documented_defaults(write_task: WriteTask) -> None:
    task = load_task(write_task(""))

    assert task.settings.pass_reward == 1.0
    assert task.settings.grading is None
    assert task.settings.effects is None
    assert (task.agent_timeout_s, task.stages[0].verifier.timeout_s) == (None, 600.0)


def test_every_setting_of_ours_is_kept(write_task: WriteTask) -> None:
    settings = load_task(write_task(EVERYTHING_OF_OURS, files=TWIN)).settings

    assert settings.pass_reward == 0.5
    assert settings.requires == ("python3", "git")
    assert (settings.skills, settings.difficulty, settings.minutes) == (("debugging",), "easy", 5)
    assert (settings.thinking_need, settings.answer, settings.confidence) == ("low", "text", True)
    assert settings.milestones == ("unit", "integration")
    assert settings.resource_args == {"read_row": "id"}
    assert settings.twin is not None
    assert settings.twin.kind == "contradicting-check"


def test_declared_effects_are_kept(write_task: WriteTask) -> None:
    effects = load_task(write_task(EVERYTHING_OF_OURS, files=TWIN)).settings.effects

    assert effects is not None
    assert effects.required == ("/app/out/**",)
    assert effects.forbidden == ("/app/users.db", "git:refs/heads/release")
    assert effects.tables == {"/app/users.db": "sqlite"}
    assert (effects.processes, effects.ports) == (("redis-server",), (6379,))


def test_faults_keep_what_triggers_and_ends_them(write_task: WriteTask) -> None:
    flaky, wrong = load_task(write_task(EVERYTHING_OF_OURS, files=TWIN)).settings.faults

    assert (flaky.id, flaky.kind, flaky.times, flaky.is_loud) == ("flaky-api", "rate_limit", 2, True)
    assert (flaky.when.tool, flaky.when.matches, flaky.when.nth) == ("bash", "curl .*orders", 1)
    assert (wrong.canary, wrong.until, wrong.is_loud) == ("CANARY-1", "test -f /app/done", False)


@pytest.mark.parametrize(
    ("toml", "mode"),
    [
        ("", "snapshot"),
        ('artifacts = ["/app/out"]\n', "sealed"),
        ('[verifier]\nenvironment_mode = "separate"\n', "sealed"),
        ("[verifier.environment]\ncpus = 1\n", "sealed"),
        ('[[artifacts]]\nsource = "/dump"\nservice = "db"\n', "snapshot"),
        ('artifacts = ["/app/out"]\n[metadata.evalkit.grading]\nmode = "shared"\n', "shared"),
        ('[metadata.evalkit.grading]\nkeep = ["/app/out"]\n', "snapshot"),
    ],
)
def test_the_grading_mode_is_explicit_or_follows_from_what_is_declared(
    write_task: WriteTask, toml: str, mode: str
) -> None:
    assert load_task(write_task(toml)).grading_mode == mode


def test_deliverables_are_absolute_normalised_and_named_once(write_task: WriteTask) -> None:
    toml = """\
artifacts = ["out//a.txt", { source = "/app/out/", destination = "x" }, "/app/./out"]
[metadata.evalkit.grading]
keep = ["/app/out", "/srv/b/"]
"""

    assert load_task(write_task(toml)).artifact_paths == ("/app/out/a.txt", "/app/out", "/srv/b")


@pytest.mark.parametrize(
    ("toml", "agent", "verifier"),
    [
        ("", True, True),
        ('[environment]\nnetwork_mode = "no-network"\n', False, False),
        ('[environment]\nnetwork_mode = "no-network"\n[agent]\nnetwork_mode = "public"\n', True, False),
        ('[verifier]\nnetwork_mode = "no-network"\n', True, False),
        ('[environment]\nnetwork_mode = "no-network"\n[verifier.environment]\n', False, True),
        (
            '[agent]\nnetwork_mode = "allowlist"\nallowed_hosts = ["pypi.org", "*.x.org", "10.0.0.0/8"]\n',
            True,
            True,
        ),
        ('[agent]\nnetwork_mode = "allowlist"\n', False, True),
        ("[metadata.evalkit.grading]\n", False, False),
        ('[environment]\nnetwork_mode = "public"\n[metadata.evalkit.grading]\nmode = "shared"\n', True, True),
        (
            (
                '[environment]\nnetwork_mode = "public"\n'
                '[metadata.evalkit.grading]\nmode = "sealed"\nkeep = ["/a"]\n'
            ),
            True,
            False,
        ),
    ],
)
def test_the_network_is_harbors_unless_our_graders_are_asked_for(
    write_task: WriteTask, toml: str, agent: bool, verifier: bool
) -> None:
    task = load_task(write_task(toml))

    assert (task.agent_network, task.verifier_network) == (agent, verifier)


def test_unknown_harbor_keys_are_warned_about_with_file_and_line(write_task: WriteTask) -> None:
    path = write_task('[agent]\ntimeout = 5\n\n[[steps]]\nname = "a"\n[steps.verifier]\nuserr = 1\n',
                      files={"steps/a/instruction.md": "Go.\n"})  # fmt: skip

    assert load_task(path).warnings == (
        f"{path}/task.toml:2: unknown key agent.timeout. Did you mean timeout_sec?",
        f"{path}/task.toml:7: unknown key steps[0].verifier.userr. Did you mean user?",
    )


def test_old_spellings_are_read_and_warned_about(write_task: WriteTask) -> None:
    path = write_task(
        'version = "1.0"\n[environment]\nmemory = "2G"\nstorage = "512m"\nallow_internet = false\n'
    )

    task = load_task(path)

    environment = task.harbor.environment
    assert task.harbor.schema_version == "1.0"
    assert (environment.memory_mb, environment.storage_mb, environment.network_mode) == (
        2048,
        512,
        "no-network",
    )
    assert task.warnings == (
        f"{path}/task.toml:1: version is an old spelling; write schema_version",
        f"{path}/task.toml:3: environment.memory is an old spelling; write memory_mb",
        f"{path}/task.toml:4: environment.storage is an old spelling; write storage_mb",
        f"{path}/task.toml:5: environment.allow_internet is an old spelling; write network_mode",
    )


def test_a_newer_schema_is_read_with_a_warning(write_task: WriteTask) -> None:
    path = write_task('schema_version = "1.10"\n')

    assert load_task(path).warnings == (
        f"{path}/task.toml:1: schema_version 1.10 is newer than 1.4, the newest known here",
    )


def test_a_compose_file_is_noticed(write_task: WriteTask) -> None:
    path = write_task(files={"environment/docker-compose.yaml": "services: {}\n"})

    assert load_task(path).compose_files == (path / "environment/docker-compose.yaml",)


def test_variables_of_the_host_do_not_enter(write_task: WriteTask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    path = write_task('[environment.env]\nA = "x ${B:-b} y"\nKEY = "${API_KEY}"\nC = "${API_KEY:-none}"\n')

    task = load_task(path)

    assert task.env == {"A": "x b y", "C": "none"}
    assert task.warnings == (
        (
            f"{path}/task.toml:3: KEY is left out: it needs API_KEY of the host, "
            "and no variable of the host enters"
        ),
    )


def test_task_toml_has_the_last_word_over_the_dockerfile(write_task: WriteTask) -> None:
    task = load_task(
        write_task(
            '[environment]\nworkdir = "src"\nenv = { A = "toml" }\n[agent]\nuser = 1000\n',
            files={"environment/Dockerfile": "FROM a\nENV A=docker B=docker\nWORKDIR /work\nUSER me\n"},
        )
    )

    assert (task.workdir, task.user) == ("/work/src", "1000")
    assert task.env == {"A": "toml", "B": "docker"}


def test_required_programs_are_those_declared_and_those_of_the_packages(write_task: WriteTask) -> None:
    task = load_task(
        write_task(
            '[metadata.evalkit]\nrequires = ["git"]\n',
            files={"environment/Dockerfile": "FROM a\nRUN apt-get install -y ripgrep git\n"},
        )
    )

    assert task.programs == ("git", "rg")


def test_a_task_without_environment_starts_from_its_image(write_task: WriteTask) -> None:
    path = write_task(
        '[environment]\ndocker_image = "python:3.12"\n',
        files={"environment/Dockerfile": None, "environment/orders.csv": None},
    )

    task = load_task(path)

    assert (task.recipe.base, task.workdir, task.recipe.needs_docker) == ("python:3.12", "/app", None)


def test_steps_have_instructions_and_tests_of_their_own(write_task: WriteTask) -> None:
    path = write_task(
        '[[steps]]\nname = "one"\nartifacts = ["/app/one"]\n[[steps]]\nname = "two"\nmin_reward = 0.5\n',
        files={
            "instruction.md": None,
            "steps/one/instruction.md": "First.\n",
            "steps/one/tests/test.sh": "true\n",
            "steps/two/instruction.md": "Second.\n",
        },
    )

    task = load_task(path)

    assert task.instruction == "First.\n"
    assert [(stage.name, stage.instruction) for stage in task.stages] == [
        ("one", "First.\n"),
        ("two", "Second.\n"),
    ]
    scripts = [stage.verifier.script for stage in task.stages]
    assert scripts == [path / "steps/one/tests/test.sh", path / "tests/test.sh"]
    assert [stage.min_reward for stage in task.stages] == [{}, {"reward": 0.5}]
    assert task.artifact_paths == ("/app/one",)


def test_canary_lines_at_the_start_of_an_instruction_are_not_told(write_task: WriteTask) -> None:
    path = write_task(
        files={"instruction.md": "<!-- bench-CANARY 1f2e -->\n# canary 2\n\n# Title\nThe canary sings.\n"}
    )

    assert load_task(path).instruction == "# Title\nThe canary sings.\n"


def test_defaults_lie_under_what_the_task_says(write_task: WriteTask) -> None:
    defaults = {"agent": {"timeout_sec": 10, "user": "me"}, "verifier": {"timeout_sec": 7}}

    task = load_task(write_task("[agent]\ntimeout_sec = 99\n"), defaults)

    assert (task.agent_timeout_s, task.user, task.stages[0].verifier.timeout_s) == (99, "me", 7)


@pytest.mark.parametrize(
    ("said", "tokens"),
    [
        ({}, 1024),
        ({"thinking_need": "low"}, 256),
        ({"thinking_need": "high"}, 4096),
        ({"thinking_need": "high", "thinking_tokens": 7}, 7),
        ({"thinking_tokens": 0}, 0),
    ],
)
def test_what_a_task_needs_of_thinking_is_its_number_else_by_its_word(said, tokens):
    assert Settings(**said).needed_thinking == tokens


def test_a_task_is_hard_by_its_difficulty_or_its_need():
    hard = [{"difficulty": "hard"}, {"thinking_need": "high"}]
    assert all(Settings(**said).is_hard for said in hard)
    assert not Settings(difficulty="medium", thinking_need="low").is_hard
