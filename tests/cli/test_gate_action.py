"""The action for GitHub: its scripts are run as the runner runs them, with the values that others may choose.

PyYAML reads action.yml; Inspect brings it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ACTION = Path(__file__).parents[2] / ".github" / "actions" / "evalkit-gate"
SCRIPTS = sorted(ACTION.glob("*.sh"))
HOSTILE = [
    "two words",
    'it\'s "quoted"',
    "$(touch struck)",
    "`touch struck`",
    "a; touch struck",
    "--strict",
    "-x",
    "line\nexit-code=0\noutcome=pass",
    "::error::obeyed",
]
KEY = re.compile(r"<!-- evalkit-gate: [0-9a-f]{16} -->")


@pytest.fixture(scope="module")
def action():
    return yaml.safe_load((ACTION / "action.yml").read_text("utf-8"))


@pytest.fixture(scope="module")
def runs(made_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")

    def play(status):
        return lambda task, _epoch: {"status": status if task % 2 else "passed"}

    made = {
        "accepted": ("passed", 20),
        "same": ("passed", 20),
        "worse": ("failed", 20),
        "other": ("passed", 12),
    }
    for name, (status, tasks) in made.items():
        made_run(folder / name, play(status), tasks=tasks, epochs=1, scorers=("success",))
    return folder


@pytest.fixture
def runner(folder, runs):
    """Run a script as a step of the runner: what it printed, its exit code, its outputs and its summary."""
    (folder / "gate.toml").write_text('[metrics]\nsuccess = { max_drop = "20pp" }\n')
    binaries = folder.parent / "bin"
    binaries.mkdir()
    program(binaries / "evalkit", f'exec "{sys.executable}" -m evalkit "$@"')
    files = {name: folder.parent / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}

    def run(script, **env):
        for file in files.values():
            file.write_text("")
        given = {"GATE_RUN": str(runs / "same"), "GATE_BASELINE": str(runs / "accepted")}
        given |= {"GATE_POLICY": "gate.toml", "GATE_STRICT": "false", "GATE_OUT": "out"}
        done = subprocess.run(
            ["bash", ACTION / script],
            cwd=folder,
            env={**os.environ, "GITHUB_ACTIONS": "true", **given, **env}
            | {name: str(file) for name, file in files.items()}
            | {"PATH": f"{binaries}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done, outputs(files["GITHUB_OUTPUT"].read_text()), files["GITHUB_STEP_SUMMARY"].read_text()

    run.binaries = binaries
    return run


def program(path, text):
    path.write_text(f"#!/usr/bin/env bash\n{text}\n")
    path.chmod(0o755)


def outputs(text):
    """As the runner reads its file: NAME=VALUE, or NAME<<END, lines, END."""
    found, lines = {}, iter(text.splitlines())
    for line in lines:
        if "<<" in line:
            name, _, end = line.partition("<<")
            value = []
            while (own := next(lines)) != end:
                value.append(own)
            found[name] = "\n".join(value)
        else:
            name, _, found[name] = line.partition("=")
    return found


def test_every_input_and_output_says_what_it_is(action):
    for own in (*action["inputs"].values(), *action["outputs"].values()):
        assert own["description"].strip().endswith(".")
    for name, own in action["inputs"].items():
        assert own.get("required") or "default" in own, name


def test_no_script_holds_an_expression(action):
    assert all("${{" not in script.read_text() for script in SCRIPTS)
    for step in action["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_every_input_reaches_a_script_or_a_condition(action):
    text = json.dumps(action["runs"])
    assert all(f"inputs.{name}" in text for name in action["inputs"])
    for step in action["runs"]["steps"]:
        script = re.search(r"([\w-]+\.sh)", step["run"])
        used = (ACTION / script[1]).read_text() if script else step["run"]
        assert all(name in used or name == "GH_TOKEN" for name in step["env"])


def test_the_token_is_given_to_the_step_that_writes_the_comment_alone(action):
    having = [step["name"] for step in action["runs"]["steps"] if "inputs.token" in json.dumps(step)]
    assert having == ["Tell the pull request"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_stop_at_the_first_failure(script):
    assert "\nset -euo pipefail\n" in script.read_text()
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)


@pytest.mark.parametrize(
    ("run", "strict", "outcome", "code"),
    [
        ("same", "false", "pass", "0"),
        ("worse", "false", "regressed", "3"),
        ("other", "false", "not comparable", "5"),
    ],
)
def test_the_verdict_is_given_on(runner, runs, folder, run, strict, outcome, code):
    done, said, summary = runner("gate.sh", GATE_RUN=str(runs / run), GATE_STRICT=strict)
    assert done.returncode == 0, done.stderr
    assert said == {"outcome": outcome, "exit-code": code, "markdown": str(folder / "out" / "gate.md")}
    assert KEY.match(Path(said["markdown"]).read_text())
    assert outcome.upper() in summary
    assert re.search(r"^::(notice|error) title=evalkit gate::", done.stdout, re.MULTILINE)


@pytest.mark.parametrize(("strict", "code"), [("false", "0"), ("true", "4")])
def test_what_cannot_be_told_stops_where_it_is_asked_to(runner, folder, strict, code):
    (folder / "gate.toml").write_text('[metrics]\nsuccess = { max_drop = "5pp" }\n')
    _, said, _ = runner("gate.sh", GATE_STRICT=strict)
    assert (said["outcome"], said["exit-code"]) == ("inconclusive", code)


@pytest.mark.parametrize(
    ("name", "value"),
    [("RUN", value) for value in HOSTILE]
    + [(name, value) for name in ("BASELINE", "POLICY", "MAP", "STRICT") for value in HOSTILE[2::3]],
)
def test_a_value_that_names_nothing_never_passes_and_does_nothing_else(runner, folder, name, value):
    done, said, _ = runner("gate.sh", **{f"GATE_{name}": value})
    assert said.get("exit-code") in ({"2", "5"} if name != "STRICT" else {None})
    assert said.get("outcome") != "pass"
    assert name != "STRICT" or done.returncode == 2
    assert sorted(path.name for path in folder.iterdir()) in (["gate.toml", "out"], ["gate.toml"])
    before, _, after = done.stdout.partition("::stop-commands::")
    assert "::error::obeyed" not in before
    assert "::error::obeyed" not in after.rpartition("\n::")[2]


@pytest.mark.parametrize("value", HOSTILE[::2], ids=repr)
def test_any_folder_can_be_written_into(runner, folder, value):
    _, said, _ = runner("gate.sh", GATE_OUT=value)
    assert said == {"outcome": "pass", "exit-code": "0", "markdown": str(folder / value / "gate.md")}
    assert not (folder / "struck").exists()


def test_a_verdict_of_before_is_not_taken_for_this_one(runner, folder):
    runner("gate.sh")
    _, said, summary = runner("gate.sh", GATE_BASELINE="git:main:nothing.json")
    assert (said["outcome"], said["exit-code"]) == ("not comparable", "5")
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["gate.md"]
    text = (folder / "out" / "gate.md").read_text()
    assert "PASS" not in text
    assert text == summary


def test_one_gate_has_one_key_whatever_it_says_and_another_gate_another(runner, folder, runs):
    def key(**env):
        runner("gate.sh", **env)
        return KEY.match((folder / "out" / "gate.md").read_text())[0]

    assert key() == key(GATE_RUN=str(runs / "worse")) == key(GATE_RUN="none")
    assert key() != key(GATE_BASELINE="git:main:nothing.json")
    assert key(GATE_COMMENT_KEY="--> x") == key(GATE_COMMENT_KEY="--> x", GATE_BASELINE="other")


PYTHON = """[[ "$1" == -c ]] || printf '%s\\0' "$@" >> "$ASKED"
[[ "$2" != venv ]] || { mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; }"""


@pytest.mark.parametrize("version", ["", "agent-evalkit==0.1.0", *HOSTILE], ids=repr)
def test_what_is_installed_is_a_requirement_and_nothing_else(runner, folder, version):
    program(runner.binaries / "python3", PYTHON)
    asked, path = folder.parent / "asked", folder.parent / "path"
    own = {"ASKED": str(asked), "GITHUB_PATH": str(path), "RUNNER_TEMP": str(folder.parent)}
    done, _, _ = runner("install.sh", GATE_VERSION=version, **own)
    assert done.returncode == 0, done.stderr
    *_, before, requirement = asked.read_text().rstrip("\0").split("\0")
    assert (before, requirement) == ("--", version or f"{ACTION}/../../..")
    assert path.read_text() == f"{folder.parent}/evalkit-gate/bin\n"


def test_the_evalkit_that_is_there_is_taken_where_that_is_asked_for(runner):
    done, _, _ = runner("install.sh", GATE_VERSION="installed")
    assert (done.returncode, done.stdout) == (0, "")


GH = f"""exec "{sys.executable}" -I - "$GH_LOG" "$GH_THERE" "$@" << 'END'
import json, pathlib, sys
log, there, words = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
text = " ".join(words)
kind = "list" if "query(" in text else "update" if "mutation(" in text else "create"
body = next((pathlib.Path(w[6:]).read_text() for w in words if w.startswith("body=@")), None)
with log.open("a") as file:
    file.write(json.dumps([kind, words, body]) + "\\n")
if not there.exists():
    sys.exit("HTTP 403: Resource not accessible by integration")
comments = json.loads(there.read_text())
if kind == "list":
    marker = words[words.index("--jq") + 1].split('startswith("')[1].split('")')[0]
    print("\\n".join(own["id"] for own in comments if own["mine"] and own["body"].startswith(marker)))
elif kind == "create":
    comments.append({{"id": f"IC_{{len(comments)}}", "body": body, "mine": True}})
else:
    id_ = next(word[3:] for word in words if word.startswith("id="))
    next(own for own in comments if own["id"] == id_)["body"] = body
there.write_text(json.dumps(comments))
END"""


@pytest.fixture
def pull_request(runner, folder):
    """Comments on a pull request, behind a `gh` that keeps them in a file and notes what it was asked."""
    program(runner.binaries / "gh", GH)
    there, log = folder.parent / "comments.json", folder.parent / "gh.jsonl"
    there.write_text(json.dumps([{"id": "IC_0", "body": "Looks good.", "mine": False}]))

    def comment(text, **env):
        (folder / "gate.md").write_text(text)
        own = {"GH_LOG": str(log), "GH_THERE": str(there), "GITHUB_REPOSITORY": "o/r"}
        own |= {"GATE_PULL_REQUEST": "7", "GATE_MARKDOWN": str(folder / "gate.md"), "GH_TOKEN": "t0ken"}
        done, _, _ = runner("comment.sh", **own | env)
        return done

    comment.there = there
    comment.asked = lambda: (
        [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    )
    return comment


MARK = "<!-- evalkit-gate: 0123456789abcdef -->\n"


def test_a_comment_is_written_once_and_then_updated(pull_request):
    for text in ("## PASS\n", "## REGRESSED\n", "## PASS again\n"):
        assert pull_request(MARK + text).returncode == 0
    assert [kind for kind, _, _ in pull_request.asked()] == [
        "list",
        "create",
        "list",
        "update",
        "list",
        "update",
    ]
    bodies = [own["body"] for own in json.loads(pull_request.there.read_text())]
    assert bodies == ["Looks good.", MARK + "## PASS again\n"]


def test_another_gate_has_its_own_comment(pull_request):
    pull_request(MARK + "one\n")
    pull_request(MARK.replace("0123", "ffff") + "two\n")
    assert len(json.loads(pull_request.there.read_text())) == 3


def test_a_comment_that_somebody_else_wrote_under_the_key_is_left_alone(pull_request):
    """They could change it afterwards."""
    pull_request.there.write_text(json.dumps([{"id": "IC_0", "body": MARK + "PASS", "mine": False}]))
    pull_request(MARK + "REGRESSED\n")
    assert [own["body"] for own in json.loads(pull_request.there.read_text())] == [
        MARK + "PASS",
        MARK + "REGRESSED\n",
    ]


def test_the_text_and_the_token_are_no_arguments(pull_request):
    pull_request(MARK + "$(touch struck)\n")
    for _, words, _ in pull_request.asked():
        assert not any("struck" in word or "t0ken" in word for word in words)


def test_where_no_comment_may_be_written_a_warning_says_so(pull_request):
    pull_request.there.unlink()
    done = pull_request(MARK)
    assert done.returncode == 0
    assert "::warning title=evalkit gate::the comments on the pull request cannot be read" in done.stdout


@pytest.mark.parametrize(
    ("text", "env"),
    [
        (MARK, {"GATE_PULL_REQUEST": "7/../../x"}),
        (MARK, {"GATE_PULL_REQUEST": "@/etc/passwd"}),
        ('<!-- evalkit-gate: ") or true -->\n', {}),
        ("no key\n", {}),
        ("", {}),
        (MARK, {"GATE_MARKDOWN": "nowhere"}),
    ],
)
def test_what_is_no_comment_of_a_gate_reaches_nobody(pull_request, text, env):
    done = pull_request(text, **env)
    assert (done.returncode, pull_request.asked()) == (0, [])
    assert done.stdout.startswith("::warning title=evalkit gate::")
