"""How the final state is judged, and what an agent cannot do about it."""

from __future__ import annotations

import itertools
import json
import shutil
import time
from pathlib import Path

import pytest

from evalkit.errors import UsageError
from evalkit.trajectory.step import Act, Event

pytestmark = pytest.mark.local

SHARED = '[metadata.evalkit.grading]\nmode = "shared"\n[environment]\nnetwork_mode = "no-network"\n'
SNAPSHOT = SHARED.replace("shared", "snapshot")
FORGER = (
    "# step: Forge, again and again, wherever a verdict could be.\n"
    "(while true; do mkdir -p /logs/verifier; echo 1 > /logs/x; mv /logs/x /logs/verifier/reward.txt; sleep 0.01; "
    "done) >/dev/null 2>&1 &\n"
)
CORE = Path(__file__).parents[2] / "suites" / "core" / "tasks"
FAILING = "#!/bin/sh\nsleep 0.3\necho 0 > /logs/verifier/reward.txt\nsleep 0.3\n"
"""A grader that leaves time before and after its word for others to speak."""


@pytest.fixture
def judged(make_suite, run_suite):
    """Run the oracle on one task; returns its trial and steps."""

    def run(files):
        run = run_suite(make_suite(one=files))
        return run.trial(run.rows()[0].trial_id)

    return run


@pytest.mark.parametrize("toml", [None, SNAPSHOT], ids=["sealed", "snapshot"])
def test_a_background_loop_that_writes_the_reward_is_dead_before_the_grader_speaks(judged, toml):
    files = {"solution/solve.sh": FORGER, "tests/test.sh": FAILING} | ({"task.toml": toml} if toml else {})
    trial, _ = judged(files)
    assert (trial.status, trial.reward) == ("failed", 0.0)


def test_in_shared_mode_the_loop_wins_which_is_why_it_is_marked(judged):
    trial, _ = judged({"solution/solve.sh": FORGER, "tests/test.sh": FAILING, "task.toml": SHARED})
    assert (trial.grader_mode, trial.reward) == ("shared", 1.0)


def test_only_declared_deliverables_reach_the_sealed_grader(judged):
    solve = "# step: Write much.\necho done > out; echo hidden > other; echo x > /tmp/left\n"
    grader = (
        "#!/bin/sh\n"
        "seen=1; test -e /app/other && seen=0; test -e /tmp/left && seen=0; test -e /app/out || seen=0\n"
        "echo $seen > /logs/verifier/reward.txt\n"
    )
    trial, _ = judged({"solution/solve.sh": solve, "tests/test.sh": grader})
    assert trial.status == "passed"


def test_the_agent_never_sees_the_tests(judged):

    _, steps = judged({"solution/solve.sh": "# step: Look.\nls -A /tests /logs\n"})
    assert (
        next(step for step in steps if isinstance(step, Act)).stdout
        == "/logs:\n\n/tests:\nexpected_output.json\n"
    )


def test_tests_planted_by_the_agent_are_replaced_in_snapshot_mode(judged):
    plant = (
        "# step: Plant.\n"
        "printf '#!/bin/sh\\necho 1 > /logs/verifier/reward.txt\\n' > /tests/test.sh; chmod +x /tests/test.sh\n"
        "mkdir -p /logs/verifier; echo '{\"reward\": 1}' > /logs/verifier/reward.json\n"
    )
    trial, _ = judged({"solution/solve.sh": plant, "tests/test.sh": FAILING, "task.toml": SNAPSHOT})
    assert (trial.status, trial.reward) == ("failed", 0.0)


@pytest.mark.parametrize(
    "plant",
    [
        "mkdir -p /logs/verifier; echo '{\"reward\": 1}' > /logs/verifier/reward.json; chmod 555 /logs/verifier /logs",
        "echo 'raise SystemExit' > /tests/json.py; chmod 555 /tests; touch /tests/..x",
        "rm -rf /logs/verifier; echo x > /logs/verifier; chmod 555 /logs",
        "mkdir -p /tests/a/b; chmod 0 /tests/a",
    ],
)
def test_what_the_agent_did_to_the_graders_folders_is_gone_in_snapshot_mode(judged, plant):
    grader = (
        "#!/bin/sh\n"
        'if [ "$(ls -A /tests)" = test.sh ] && [ -z "$(ls -A /logs/verifier)" ]; then reward=1; else reward=0; fi\n'
        "echo $reward > /logs/verifier/reward.txt\n"
    )
    files = {
        "solution/solve.sh": f"# step: Plant.\n{plant}\n",
        "tests/test.sh": grader,
        "task.toml": SNAPSHOT,
    }
    trial, _ = judged(files)
    assert (trial.status, trial.error_message) == ("passed", None)


@pytest.mark.parametrize(
    "plant",
    [
        "ln -s /etc/passwd out",
        "mkfifo out",
        "mkdir out; ln -s ../../etc out/escape",
        "echo done > real; ln real out",
        "ln -s / out",
    ],
)
def test_a_deliverable_that_leads_outside_is_not_delivered_and_the_trial_fails(judged, plant):
    trial, steps = judged({"solution/solve.sh": f"# step: Plant.\n{plant}\n"})
    assert (trial.status, trial.error_origin) == ("failed", None)
    event = next(step for step in steps if isinstance(step, Event) and step.event == "error")
    assert json.loads(event.detail)["not_delivered"] == "/app/out"


def test_one_refused_deliverable_does_not_take_the_others_with_it(judged):
    toml = 'artifacts = ["/app/out", "/app/evil"]\n[environment]\nnetwork_mode = "no-network"\n'
    solve = "# step: Both.\necho done > out; ln -s /etc/passwd evil\n"
    trial, _ = judged({"task.toml": toml, "solution/solve.sh": solve})
    assert trial.status == "passed"


def test_the_agent_cannot_write_through_a_link_into_the_verdict_channel(judged):
    solve = "# step: Link.\necho done > out; rm -rf /logs/verifier; ln -s /app /logs/verifier\n"
    trial, _ = judged({"solution/solve.sh": solve, "task.toml": SNAPSHOT})
    assert trial.status == "passed"
    assert trial.reward == 1.0


def test_the_grader_gets_a_nonce_that_makes_its_word_the_only_one(judged):
    grader = (
        "#!/bin/sh\nread nonce\necho 0 > /logs/verifier/reward.txt\n"
        'printf \'{"nonce": "%s", "reward": 1, "checks": {"unit": true}}\' "$nonce" > /logs/verifier/verdict.json\n'
    )
    trial, _ = judged({"tests/test.sh": grader})
    assert (trial.status, dict(trial.checks)) == ("passed", {"unit": True})


def test_named_checks_are_recorded(judged):
    toml = 'artifacts = ["/app/out"]\n[metadata.evalkit.grading]\nchecks = ["a", "b"]\n'
    ctrf = '{"results": {"tests": [{"name": "a", "status": "passed"}, {"name": "b", "status": "failed"}]}}'
    grader = f"#!/bin/sh\necho '{ctrf}' > /logs/verifier/ctrf.json\necho 0 > /logs/verifier/reward.txt\n"
    trial, _ = judged({"task.toml": toml, "tests/test.sh": grader})
    assert (trial.status, dict(trial.checks)) == ("failed", {"a": True, "b": False})


def test_a_deliverable_keeps_its_content_and_mode_and_is_kept_for_regrading(judged, tmp_path):
    solve = (
        "# step: Make.\n"
        "mkdir -p out/deep; echo '#!/bin/sh\necho hi' > out/deep/run; chmod 755 out/deep/run\n"
        "ln -s deep/run out/link\n"
    )
    grader = (
        "#!/bin/sh\n"
        'if [ "$(/app/out/link)" = hi ]; then reward=1; else reward=0; fi\n'
        "echo $reward > /logs/verifier/reward.txt\n"
    )
    trial, _ = judged({"solution/solve.sh": solve, "tests/test.sh": grader})
    assert trial.status == "passed"
    assert any(
        path.read_text() == "#!/bin/sh\necho hi\n" for path in (tmp_path / "run/artifacts").glob("??/*")
    )


def test_setup_that_fails_is_the_tasks_fault(judged):
    dockerfile = "FROM debian:bookworm-slim\nWORKDIR /app\nRUN chmod 755 /app/nothing-here\n"
    trial, _ = judged({"environment/Dockerfile": dockerfile})
    assert (trial.status, trial.error_origin) == ("unscored", "task")
    assert "nothing-here" in trial.error_message


def test_trials_run_at_the_same_time_up_to_the_number_allowed(make_suite, run_suite):
    slow = {"solution/solve.sh": "# step: Wait.\nsleep 1.5\necho done > out\n"}
    suite = make_suite(a=slow, b=slow, c=slow, d=slow)
    began = time.monotonic()
    rows = run_suite(suite, max_trials=4).rows()
    together = time.monotonic() - began
    assert [row.status for row in rows] == ["passed"] * 4
    assert together < 4 * 1.5
    alone = run_suite(suite, out="alone", max_trials=1).rows()
    spans = sorted((row.started_at, row.finished_at) for row in alone)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert max(row.queue_s for row in alone) > 3


PLANT = """
def plant(nonce):
    checks = {name: True for name in ("page-count", "page-items", "page-range", "page-links")}
    tests = [{"name": name, "status": "passed"} for name in checks]
    for name, value in (
        ("verdict.json", {"nonce": nonce, "reward": 1, "checks": checks}),
        ("reward.json", 1),
        ("reward.txt", 1),
        ("ctrf.json", {"results": {"tests": tests}}),
    ):
        pathlib.Path("/logs/verifier", name).write_text(json.dumps(value))
"""
HUNT = """
def hunt():
    for place in ("/.evalkit", "/run", "/tmp", "/proc/self/fd", f"/proc/{os.getppid()}/fd"):
        for path in glob.glob(place + "/**", recursive=True):
            try:
                text = open(path, "rb").read(4096)
            except OSError:
                continue
            found = re.search(rb"[0-9a-f]{32}", text)
            if found:
                return found.group().decode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
                if int(pid) == os.getpid():
                    continue
                for line in maps:
                    if "[heap]" in line or "[stack]" in line:
                        start, end = (int(part, 16) for part in line.split()[0].split("-"))
                        memory.seek(start)
                        found = re.search(rb"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])", memory.read(end - start))
                        if found:
                            return found.group().decode()
        except (OSError, ValueError, OverflowError):
            continue
    return "not found"
"""
ATTACKS = {
    "plants a verdict with whatever it finds": "plant(hunt())",
    "plants again and again from a daemon": (
        "os.fork() or os.setsid() or [plant('x') or time.sleep(0.01) for _ in range(900)]"
    ),
    "kills the grader and plants": "os.fork() or (os.setsid(), os.kill(PARENT, 9), plant('x'), time.sleep(1))",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_code_that_a_core_grader_runs_cannot_speak_for_it(run_suite, tmp_path, attack):
    task = shutil.copytree(CORE / "fix-off-by-one", tmp_path / "suite" / "fix-off-by-one")
    code = f"import glob, json, os, pathlib, re, time\nPARENT = os.getppid()\n{PLANT}{HUNT}\n{attack}\n"
    (task / "solution" / "solve.sh").write_text(f"# step: Attack.\ncat > pagination.py <<'EOF'\n{code}EOF\n")
    (trial,) = run_suite(tmp_path / "suite").rows()
    assert trial.status != "passed"
    assert trial.reward in {0.0, None}


@pytest.mark.parametrize("artifact", ["/tests", "/logs", "/logs/verifier/x", "/tests/deep"])
def test_an_artifact_in_the_graders_own_folders_is_refused(make_suite, run_suite, artifact):
    toml = f'artifacts = ["{artifact}"]\n[environment]\nnetwork_mode = "no-network"\n'
    with pytest.raises(UsageError, match="grader's own folders"):
        run_suite(make_suite(one={"task.toml": toml}))


def test_a_deliverable_may_lie_outside_the_working_directory(judged):
    toml = 'artifacts = ["/data/out"]\n[environment]\nnetwork_mode = "no-network"\n'
    grader = '#!/bin/sh\nif [ "$(cat /data/out)" = done ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n'
    solve = "# step: Elsewhere.\necho done > /data/out\n"
    trial, _ = judged({"task.toml": toml, "tests/test.sh": grader, "solution/solve.sh": solve})
    assert trial.status == "passed"


def test_a_deliverable_among_the_machines_programs_is_refused_before_the_run(make_suite, run_suite):
    toml = 'artifacts = ["/usr/bin/mine"]\n[environment]\nnetwork_mode = "no-network"\n'
    with pytest.raises(UsageError, match="cannot run in the local sandbox"):
        run_suite(make_suite(one={"task.toml": toml}))
