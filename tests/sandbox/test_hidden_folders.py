"""What lies among the machine's programs and must not be seen is not seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.sandbox import Environment
from evalkit.sandbox.local.furnishing import hidden

pytestmark = [pytest.mark.anyio, pytest.mark.local]


async def test_a_hidden_folder_of_the_machine_is_empty_and_its_neighbours_are_not(open_local) -> None:
    sandbox = await open_local(Environment(hidden=(Path("/usr/share/perl5"), Path("/usr/share/doc"))))
    result = await sandbox.exec("ls -A /usr/share/doc | wc -l; ls /usr/share | wc -l; touch /usr/share/doc/x")
    counted = [int(line) for line in result.stdout.text.split()]
    assert counted[0] == 0
    assert counted[1] > 1
    assert "Read-only" in result.stderr.text


async def test_a_hidden_folder_below_a_readonly_one_is_empty(open_local, open_folder: Path) -> None:
    (open_folder / "suite" / "tests").mkdir(parents=True)
    (open_folder / "suite" / "tests" / "answer").write_text("42")
    (open_folder / "data").write_text("shown")
    environment = Environment(readonly=(open_folder,), hidden=(open_folder / "suite",))
    sandbox = await open_local(environment)
    result = await sandbox.exec(
        f"cat {open_folder}/data; ls -A {open_folder}/suite; cat {open_folder}/suite/tests/answer"
    )
    assert result.stdout.text == "shown"
    assert result.exit_code != 0


def test_only_what_could_be_seen_is_hidden_and_only_once(tmp_path: Path) -> None:
    environment = Environment(
        hidden=(tmp_path, Path("/usr/share/doc"), Path("/usr/share"), Path("/usr/no-such"))
    )
    assert hidden(environment) == ("/usr/share",)
