"""Whether calls may write follows from the last look, and from when a new one is due."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from evalkit.sandbox.storage import QUICK_S, Storage

MB = 1024 * 1024


def test_calls_may_write_up_to_the_limit_and_again_once_files_are_removed() -> None:
    storage = Storage(10, None)
    told: list[bool] = []
    for written in (0, 10 * MB, 10 * MB + 1, 0):
        storage.seen(written, 1.0)
        told.append(storage.frozen is not None)
    assert told == [False, False, True, False]


def test_while_files_are_over_the_limit_every_call_is_preceded_by_a_look() -> None:
    storage = Storage(10, None)
    storage.seen(11 * MB, 100.0)
    assert storage.unsure()


def test_no_call_waits_for_an_expensive_look_without_a_reason() -> None:
    storage = Storage(10, None)
    storage.seen(0, QUICK_S)
    assert not storage.unsure()


def test_a_disk_that_loses_a_quarter_of_the_limit_is_a_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    free = [1000]
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bfree=free[0], f_frsize=MB))
    storage = Storage(100, tmp_path)
    storage.seen(0, QUICK_S)
    answers: list[bool] = []
    for free[0] in (1000, 975, 974, 2000):
        answers.append(storage.unsure())
    assert answers == [False, False, True, False]


def test_a_disk_that_cannot_be_asked_is_no_reason(tmp_path: Path) -> None:
    storage = Storage(10, tmp_path / "missing")
    storage.seen(0, QUICK_S)
    assert not storage.unsure()
