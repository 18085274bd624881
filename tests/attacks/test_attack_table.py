"""The table of attacks and graders is as it was measured, and sealed with hidden cases lets none pass."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from evalkit.grading.exploit import corpus
from evalkit.trajectory.finding import CODES


@pytest.fixture(scope="module")
def attack_table() -> ModuleType:
    path = Path(__file__).parent / "attack_table.py"
    spec = importlib.util.spec_from_file_location("attack_table", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def local_pytest(local_support: None) -> None:
    """The local sandbox shows /usr: a pytest that the graders can run must be there."""
    if subprocess.run(
        ["/usr/bin/python3", "-I", "-c", "import pytest"], check=False, capture_output=True
    ).returncode:
        if "local" in os.environ.get("EVALKIT_REQUIRE", "").split(","):
            pytest.fail("the system's Python needs pytest: apt-get install python3-pytest")
        pytest.skip("the system's Python has no pytest (Debian: apt-get install python3-pytest)")


def test_the_corpus_covers_every_code_that_an_attack_can_have() -> None:
    assert len(corpus()) >= 24
    assert {code for exploit in corpus() for code in exploit.codes} == set(CODES) - {"twin"}


@pytest.mark.local
def test_the_whole_corpus_gives_the_measured_sums_in_the_local_sandbox(
    attack_table: ModuleType, local_pytest: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = attack_table.measure(tmp_path, "local", ["oracle", "nop", *(one.name for one in corpus())])
    with capsys.disabled():
        print(f"\n{attack_table.printed(table)}", file=sys.stderr)
    assert set(table["oracle"].values()) == {"passed"}
    assert set(table["nop"].values()) == {"failed"}
    assert attack_table.sums(table, attack_table.MEASURED) == attack_table.SUMS
    hidden = {name: row["hidden"] for name, row in table.items() if name != "oracle"}
    assert {name: status for name, status in hidden.items() if status != "failed"} == {}


@pytest.mark.docker
def test_the_measured_attacks_give_the_same_sums_in_a_container(
    attack_table: ModuleType, docker_support: None, tmp_path: Path
) -> None:
    table = attack_table.measure(tmp_path, "docker", ["oracle", *attack_table.MEASURED])
    print(attack_table.printed(table))
    assert set(table["oracle"].values()) == {"passed"}
    assert attack_table.sums(table, attack_table.MEASURED) == attack_table.SUMS


@pytest.mark.docker
def test_hidden_cases_let_no_attack_pass_in_a_container(
    attack_table: ModuleType, docker_support: None, tmp_path: Path
) -> None:
    others = [one.name for one in corpus() if one.name not in attack_table.MEASURED]
    table = attack_table.measure(tmp_path, "docker", others, task="hidden")
    assert {name: row for name, row in table.items() if row != {"hidden": "failed"}} == {}
