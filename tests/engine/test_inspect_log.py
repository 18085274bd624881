"""Inspect's own log keeps no secret, whatever became of the process that wrote it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from evalkit.engine.inspect_log import redact_logs

SECRET = "sk-abcdefghijklmnopqrstuvwxyz123456"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "one.eval"
    with zipfile.ZipFile(path, "w") as members:
        members.writestr("header.json", json.dumps({"said": f"api_key={SECRET}", "fine": 1}))
    return path


def test_what_looks_like_a_secret_is_redacted(log):
    redact_logs(log.parent)
    with zipfile.ZipFile(log) as members:
        text = members.read("header.json").decode()
    assert SECRET not in text
    assert json.loads(text)["fine"] == 1


@pytest.mark.parametrize("damage", ["cut off", "no zip", "no json"])
def test_a_log_that_cannot_be_redacted_is_deleted(log, damage):
    if damage == "no json":
        with zipfile.ZipFile(log, "w") as members:
            members.writestr("header.json", f"{{{SECRET}")
    else:
        log.write_bytes(log.read_bytes()[:-30] if damage == "cut off" else b"")
    redact_logs(log.parent)
    assert list(log.parent.iterdir()) == []


def test_what_was_being_written_when_the_process_died_is_deleted(log):
    for name in ("one.part", ".inspect_tmp_1a2b.writing"):
        (log.parent / name).write_text(SECRET)
    (log.parent / "mine.txt").write_text("mine")
    redact_logs(log.parent)
    assert {path.name for path in log.parent.iterdir()} == {"one.eval", "mine.txt"}


def test_no_folder_is_no_log(tmp_path):
    redact_logs(tmp_path / "none")
