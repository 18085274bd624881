"""A process goes by the name of its program or script, or by words of its command line; who only names it does not."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.engine.faults.processes import Process, listing_line, read_listing, script_of


def argv_of(line: str) -> tuple[str, ...]:
    """Arguments, parted by | where there is any, else by blanks."""
    return tuple(line.split("|" if "|" in line else None))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("worker.py", "python3 worker.py"),
        ("worker.py", "python3 -W ignore worker.py --fast"),
        ("worker.py", "python3.11 -u -X dev -Wignore::DeprecationWarning /srv/worker.py"),
        ("worker.py", "/usr/bin/python3 -- worker.py"),
        ("worker", "python3 -m worker"),
        ("http.server", "python3 -um http.server 8000"),
        ("queue-worker", "/bin/sh ./queue-worker"),
        ("queue-worker", "bash -eu -o pipefail queue-worker"),
        ("queue-worker", "bash --rcfile /dev/null queue-worker"),
        ("index.js", "node --require dotenv server/index.js"),
        ("server/index.js", "node /app/server/index.js"),
        ("app.jar", "java -Xmx1g -cp lib.jar -jar build/app.jar"),
        ("serve.rb", "ruby -I lib serve.rb"),
        ("serve.pl", "perl -w -I lib serve.pl"),
        ("serve.php", "php -d display_errors=1 -f serve.php"),
        ("redis-server", "/usr/bin/redis-server *:6379"),
        ("/usr/bin/redis-server", "/usr/bin/redis-server"),
        ("a-program-with-a-long-name", "./a-program-with-a-long-name"),
        ("python3 -W ignore worker.py", "/usr/bin/python3 -W ignore worker.py"),
        ("manage.py runworker", "python3 manage.py runworker -v"),
        ("my worker.py", "python3|my worker.py"),
        ("nginx: worker process", "nginx: worker process|"),
    ],
)
def test_a_process_goes_by_its_program_its_script_or_words_of_its_command_line(name, line):
    assert Process(7, "other", argv_of(line)).is_called(name)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("worker.py", "tail -f worker.py"),
        ("worker.py", "vim worker.py"),
        ("worker.py", "python3 edit.py worker.py"),
        ("worker.py", "python3 worker.pyc"),
        ("worker.py", "python3 my-worker.py"),
        ("worker.py", "python3 -m pdb worker.py"),
        ("ignore", "python3 -W ignore worker.py"),
        ("worker.py", "python3 -c worker.py"),
        ("worker.py", "sh|-ec|while :; do python3 worker.py; done"),
        ("python3 worker.py", "sh|-c|python3 worker.py"),
        ("worker.py", "python3|-|worker.py"),
        ("a-program-with-a-long-name", "./a-program-with-another"),
        ("manage.py runworker", "python3 manage.py migrate runworker"),
        ("lib", "ruby -I lib serve.rb"),
    ],
)
def test_who_only_names_it_is_not_called_so(name, line):
    assert not Process(7, "a-program-with-", argv_of(line)).is_called(name)


def test_the_programs_own_name_counts_whole_and_cut_only_where_nothing_else_is_known():
    assert Process(7, "worker", ("renamed",)).is_called("worker")
    assert Process(7, "a-program-with-").is_called("a-program-with-a-long-name")
    assert not Process(7, "a-program-with-", ("renamed",)).is_called("a-program-with-a-long-name")


@given(st.lists(st.text()), st.text(min_size=1))
def test_no_command_line_is_too_strange(argv, name):
    process = Process(7, "x", tuple(argv))
    assert process.is_called(name) in {True, False}
    assert process.title.isprintable()
    script = script_of(argv)
    assert script is None or script in argv


@given(st.binary())
def test_no_listing_is_too_strange(noise):
    listing = b"TOKEN12\0" + noise.replace(b"TOKEN", b"") + b"TOKEN7\0keeper\0sh\0./keeper\0"
    found = read_listing(listing, "TOKEN")
    assert found[0] == Process(7, "keeper", ("sh", "./keeper"))


def test_a_listing_spares_who_lists_and_those_above(tmp_path):
    child = subprocess.Popen(["sleep", "60"])
    try:
        said = subprocess.run(["sh", "-c", listing_line("TOKEN")], capture_output=True, check=True).stdout
        found = {process.pid: process for process in read_listing(said, "TOKEN")}
    finally:
        child.kill()
        child.wait()
    assert found[child.pid] == Process(child.pid, "sleep", ("sleep", "60"))
    assert os.getpid() not in found
