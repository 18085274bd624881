"""The first thing that a shell line does, and to what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.shell_line import first_doing
from evalkit.measures.shell_programs import OPERATIONS


@pytest.mark.parametrize(
    ("line", "operation", "resource"),
    [
        ("cat a.txt | grep x", "read", "a.txt"),
        ("cd /app && cat a.txt", "read", "a.txt"),
        ("cd /app; FOO=1 BAR=2 ./run.sh --x", "run", "./run.sh"),
        ("sudo -u root timeout -k 5 10 env A=b pytest tests/a.py", "test", "tests/a.py"),
        ("python3 -m unittest -v", "test", "python3"),
        ("python3 -B -W error -X dev -m unittest", "test", "python3"),
        ("python3 -B manage.py test", "test", "manage.py"),
        ("make check", "test", "make"),
        ("npm run test", "test", "npm"),
        ("echo done > out", "mutate", "out"),
        ("python3 x.py 2>/dev/null", "run", "x.py"),
        ("python3 x.py 2>&1 | tail -5", "run", "x.py"),
        ("sed -i 's/a/b/' f.py", "mutate", "f.py"),
        ("sed -n 1,5p f.py", "read", "f.py"),
        ("grep -rn 'a b' src/x.py", "read", "src/x.py"),
        ("curl -s http://localhost/orders | jq .", "fetch", "http://localhost/orders"),
        ("git clone https://example.org/x.git", "fetch", "https://example.org/x.git"),
        ("git status", "read", "git"),
        ("git commit -m 'x'", "mutate", "git"),
        ("pip install requests", "install", "pip"),
        ("python -m pip install requests", "install", "python"),
        ("apt-get -y install jq", "install", "apt-get"),
        ("rm -rf /tmp/x", "mutate", "/tmp/x"),
        ("cat <<EOF > f\nx\nEOF", "mutate", "f"),
        ("/usr/bin/cat a.txt", "read", "a.txt"),
        ("frobnicate", "other", "frobnicate"),
        ("echo 'never closed", "other", "echo"),
        ("", "other", ""),
        ("; && |", "other", ""),
    ],
)
def test_what_a_line_does_first(line, operation, resource):
    doing = first_doing(line)
    assert (doing.operation, doing.resource) == (operation, resource)


@pytest.mark.parametrize(
    "line", ["pytest tests/a.py", "cd x && pytest tests/a.py", "CI=1 timeout 60 pytest tests/a.py"]
)
def test_what_stands_around_a_command_does_not_change_what_it_is(line):
    assert first_doing(line) == first_doing("pytest tests/a.py")


@given(st.text(max_size=200))
def test_any_text_has_one_operation(line):
    doing = first_doing(line)
    assert doing.operation in OPERATIONS
    assert first_doing(line) == doing
