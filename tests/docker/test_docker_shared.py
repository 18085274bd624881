"""What holds for every sandbox holds for containers: tests/sandbox, run with the fixtures of this folder."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

SHARED = Path(__file__).parents[1] / "sandbox"
OTHERWISE = {
    "test_kept_shell.py": {
        # The kernel enforces these limits here; see test_docker_limits.py.
        "test_the_memory_of_one_process_is_bounded",
        "test_limits_cannot_be_raised_inside",
        "test_many_processes_that_share_the_memory_limit_are_stopped_with_a_reason",
    },
    "test_files.py": {
        # Every folder is a container's own, so none is refused.
        "test_files_of_the_machine_are_read_with_exec",
        "test_a_working_directory_that_needs_a_container_is_the_tasks_error",
        "test_private_folders_are_writable_and_readonly_ones_are_not",
        "test_a_hostile_tree_breaks_nothing",
        "test_a_missing_placement_is_the_tasks_error_and_leaves_nothing",
    },
    "test_export.py": {
        # An archive does not say that a file has further names, and holds no sockets; see test_docker_files.py.
        "test_what_could_lead_outside_is_refused_by_name",
        "test_a_forged_record_is_not_placed",
        "test_a_link_that_is_accepted_never_leads_out",
        "test_a_link_that_climbs_behind_another_link_is_refused",
        "test_paths_below_others_are_taken_once",
    },
}


def shared_tests(file: str) -> Iterator[tuple[str, Callable[..., object]]]:
    spec = importlib.util.spec_from_file_location(f"shared_{Path(file).stem}", SHARED / file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, test in vars(module).items():
        if name.startswith("test_") and name not in OTHERWISE[file]:
            test.pytestmark = [mark for mark in getattr(test, "pytestmark", []) if mark.name != "local"]
            yield name, test


for shared_file in OTHERWISE:
    globals().update(shared_tests(shared_file))
