"""How do the real tests come to where the agent worked?"""

from __future__ import annotations

from evalkit.grading.environment import TESTS
from evalkit.sandbox.protocol import Sandbox
from evalkit.tasks.stage import Stage


async def bring_tests(stage: Stage, sandbox: Sandbox) -> None:
    """Replace whatever the agent left at /tests by the real tests."""
    await sandbox.clear_folder(TESTS)
    for name, path in stage.verifier.test_files.items():
        executable = bool(path.stat().st_mode & 0o100) or name == "test.sh"
        await sandbox.write_file(f"{TESTS}/{name}", path.read_bytes(), executable=executable)
