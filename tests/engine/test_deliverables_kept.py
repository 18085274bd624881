"""What was delivered is kept, stage by stage, for grading it again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from evalkit.errors import NotComparable
from evalkit.grading.delivered import read_delivered
from evalkit.trajectory.artifacts import ArtifactStore

SNAPSHOT = """\
schema_version = "1.4"
[environment]
network_mode = "no-network"
[metadata.evalkit.grading]
mode = "snapshot"
"""


@pytest.fixture
def kept(make_suite, run_any):
    """Run the oracle on one task; returns its trial and the store."""

    def run(**files):
        opened = run_any(make_suite(one=files))
        return opened.rows()[0], ArtifactStore(Path(opened.path) / "artifacts")

    return run


def test_the_list_says_of_every_path_what_it_is(kept):
    trial, store = kept()
    (stage,) = read_delivered(trial.deliverables, store)
    (out,) = stage.deliverables
    assert (stage.stage, stage.grader_mode) == (None, "sealed")
    assert (out.path, out.kind, out.size) == ("/app/out", "file", 5)
    assert out.digest == hashlib.sha256(b"done\n").hexdigest()
    with store.open(trial.deliverables) as source:
        text = source.read()
    assert hashlib.sha256(text).hexdigest() == trial.deliverables
    assert json.loads(text)[0]["deliverables"][0]["path"] == "/app/out"


def test_it_is_kept_where_the_grader_gives_no_verdict(kept):
    trial, store = kept(**{"tests/test.sh": "#!/bin/sh\nexit 1\n"})
    assert trial.status == "unscored"
    assert read_delivered(trial.deliverables, store)[0].deliverables[0].path == "/app/out"


def test_what_was_refused_is_told(kept):
    trial, store = kept(**{"solution/solve.sh": "ln -s /etc/passwd out\n"})
    (stage,) = read_delivered(trial.deliverables, store)
    assert stage.deliverables == ()
    assert list(stage.refused) == ["/app/out"]


def test_a_snapshot_keeps_what_the_task_names(kept):
    trial, store = kept(**{"task.toml": SNAPSHOT + 'keep = ["/app/out"]\n'})
    (stage,) = read_delivered(trial.deliverables, store)
    assert (stage.grader_mode, [one.path for one in stage.deliverables]) == ("snapshot", ["/app/out"])


def test_a_snapshot_that_names_nothing_keeps_nothing(kept):
    trial, _ = kept(**{"task.toml": SNAPSHOT})
    assert trial.deliverables is None


def test_what_was_changed_since_is_not_believed(kept):
    trial, store = kept()
    (stage,) = read_delivered(trial.deliverables, store)
    file = store.path(stage.deliverables[0].digest)
    file.chmod(0o644)
    file.write_text("forged\n")
    with pytest.raises(NotComparable, match="/app/out is no longer what was kept"):
        read_delivered(trial.deliverables, store)
    file.unlink()
    with pytest.raises(NotComparable, match="/app/out is no longer kept"):
        read_delivered(trial.deliverables, store)
