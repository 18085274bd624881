"""What comes of a trial whose grader hangs, crashes, writes nonsense or too much: a reason, and no waiting for ever."""

from __future__ import annotations

import time

import pytest

TOML = """\
artifacts = ["/app/out"]
[verifier]
timeout_sec = 4
[environment]
network_mode = "no-network"
storage_mb = 200
"""
SNAPSHOT = TOML.replace('artifacts = ["/app/out"]', "").replace(
    "[verifier]", '[metadata.evalkit.grading]\nmode = "snapshot"\n[verifier]'
)
WORD = "/logs/verifier/reward.txt"
NO_WORD = {
    "hangs": ("sleep 1000", "did not end within 4 s"),
    "hangs and cannot be asked to end": (
        "trap '' TERM INT HUP; while :; do :; done",
        "did not end within 4 s",
    ),
    "hangs with its word given": (f"echo 1 > {WORD}; sleep 1000", "did not end within 4 s"),
    "crashes": ("echo broken >&2; exit 3", "wrote no reward (test.sh exited with 3): broken"),
    "is killed": ("kill -9 $$", "wrote no reward (test.sh exited with 137)"),
    "writes nothing": ("true", "wrote no reward"),
    "writes an empty word": (f": > {WORD}", "reward.txt holds no number"),
    "writes NaN": (f"echo nan > {WORD}", "a reward must be finite"),
    "writes inf": (f"echo -inf > {WORD}", "a reward must be finite"),
    "writes NaN as JSON": (
        "echo '{\"reward\": NaN}' > /logs/verifier/reward.json",
        "a reward must be finite",
    ),
    "writes 100 MB of JSON": (
        "head -c 100000000 /dev/zero | tr '\\0' 1 > /logs/verifier/reward.json",
        "reward.json cannot be read",
    ),
    "writes a folder": ("mkdir /logs/verifier/reward.json", "reward.json cannot be read"),
    "writes a pipe": ("mkfifo /logs/verifier/reward.json", "reward.json cannot be read"),
    "fills the disk": (
        "i=0; while :; do i=$((i+1)); head -c 20000000 /dev/zero > /tmp/full$i; done",
        "",
    ),
}


@pytest.fixture
def graded(make_suite, run_any):
    """Run the oracle on one task, and say how it ended and how many seconds that took."""

    def run(script, **files):
        task = {"task.toml": TOML, "tests/test.sh": f"#!/bin/sh\n{script}\n", **files}
        began = time.monotonic()
        (row,) = run_any(make_suite(one=task)).rows()
        return row, time.monotonic() - began

    return run


@pytest.mark.parametrize(("script", "reason"), NO_WORD.values(), ids=NO_WORD.keys())
def test_a_grader_without_a_word_leaves_the_trial_unscored_with_the_reason(graded, script, reason):
    row, seconds = graded(script)
    assert (row.status, row.reward, row.error_origin) == ("unscored", None, "grader"), row.error_message
    assert reason in row.error_message
    assert seconds < 60


@pytest.mark.parametrize("name", ["reward.txt", "reward.json"])
def test_a_stale_reward_is_no_word_of_the_grader(graded, name):
    plant = f"# step: Plant.\nmkdir -p /logs/verifier; echo 1 > /logs/verifier/{name}\n"
    row, _ = graded("true", **{"task.toml": SNAPSHOT, "solution/solve.sh": plant})
    assert (row.status, row.error_origin) == ("unscored", "grader")
    assert "wrote no reward" in row.error_message


def test_a_grader_that_floods_its_output_is_believed_all_the_same(graded):
    row, seconds = graded(f"yes | head -c 200000000; yes | head -c 100000000 >&2; echo 0 > {WORD}")
    assert (row.status, row.reward) == ("failed", 0.0), row.error_message
    assert seconds < 60


def test_what_a_grader_leaves_running_is_over_before_its_word_is_read(graded):
    late = f"(trap '' HUP; sleep 0.5; while :; do echo 1 > {WORD}; done) >/dev/null 2>&1 &\n"
    row, _ = graded(f"{late}echo 0 > {WORD}")
    assert (row.status, row.reward) == ("failed", 0.0), row.error_message


def test_a_deliverable_of_5_gb_leaves_the_trial_unscored_without_being_read(graded):
    huge = "# step: Grow.\ntruncate -s 5G out; ls -l out\n"
    toml = TOML.replace("storage_mb = 200\n", "")
    row, seconds = graded(f"echo 1 > {WORD}", **{"task.toml": toml, "solution/solve.sh": huge})
    assert row.status == "unscored"
    assert "would be taken out" in row.error_message
    assert seconds < 60
