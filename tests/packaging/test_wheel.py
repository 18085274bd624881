"""The wheel, installed where a user installs it, next to files that have our own names."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from evalkit.grading.helper import texts

ROOT = Path(__file__).resolve().parents[2]


def call(*args: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(arg) for arg in args], cwd=cwd, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    done = call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; what it depends on comes from the environment of the tests."""
    home = tmp_path_factory.mktemp("venv")
    venv.create(home, with_pip=True, symlinks=True)
    done = call(home / "bin/python", "-m", "pip", "install", "--no-index", "--no-deps", wheel, cwd=home)
    assert done.returncode == 0, done.stderr
    (site,) = home.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin"


@pytest.fixture
def cluttered(tmp_path: Path) -> Path:
    """A folder with a cli.py, reports/, scorers/ and suites/ of its own."""
    (tmp_path / "cli.py").write_text("raise SystemExit('the wrong cli was imported')\n")
    for name in ("reports", "scorers", "suites", "tests"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"raise SystemExit('the wrong {name} was imported')\n")
    return tmp_path


def test_the_only_top_level_name_is_evalkit(wheel):
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"evalkit"}


def test_the_wheel_carries_the_content_and_keeps_scripts_executable(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        solve = archive.getinfo("evalkit/_content/suites/core/tasks/fix-off-by-one/solution/solve.sh")
    for kind in ("suites", "scorers", "reports"):
        assert any(name.startswith(f"evalkit/_content/{kind}/") for name in names)
    assert (solve.external_attr >> 16) & 0o111
    assert "evalkit/py.typed" in names
    helper = {f"evalkit/grading/helper/evalkit_grader/{name}" for name in texts()}
    assert helper <= set(names)


def test_the_distribution_is_not_called_evalkit(wheel):
    assert wheel.name.startswith("agent_evalkit-")


def test_the_command_finds_bundled_suites_beside_files_of_the_same_names(installed, cluttered):
    done = call(installed / "evalkit", "suite", "list", cwd=cluttered)
    assert done.returncode == 0, done.stderr
    assert "core" in done.stdout


def test_python_dash_m_works_in_a_cluttered_folder_too(installed, cluttered):
    done = call(installed / "python", "-m", "evalkit", "run", "core", "--dry-run", cwd=cluttered)
    assert done.returncode == 0, done.stderr
    assert "trials    8" in done.stdout


@pytest.mark.local
def test_the_installed_command_runs_a_task(installed, cluttered, local_support):
    done = call(
        installed / "evalkit", "run", "core", "--task", "fix-off-by-one", "--out", "run", "-m", "scripted/oracle",
        cwd=cluttered,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "passed" in done.stdout


def test_installed_digests_equal_those_of_the_checkout(installed, cluttered):
    def digest(done):
        assert done.returncode == 0, done.stderr
        return [line for line in done.stdout.splitlines() if line.startswith("digest")]

    ours = digest(call(sys.executable, "-m", "evalkit", "suite", "show", "core", cwd=cluttered))
    assert ours == digest(call(installed / "evalkit", "suite", "show", "core", cwd=cluttered))
    assert ours
