"""A pattern finds what `re.search` finds, and no text makes it hold anybody up."""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
import warnings

import pytest

from evalkit.tasks import pattern


def found(wanted: str, text: str) -> bool:
    return asyncio.run(pattern.found_in(pattern.checked(wanted), text))


@pytest.mark.parametrize(
    "nested",
    [
        "(a+)+",
        "(?:x*y)*",
        r"((\d+),)+",
        "(a|b+){2,}",
        "(?x)(a+) +$",
        "(?x: (a+) + )$",
        "(?x)(a #)\n +)+",
        "(?i)([^b]+)*x",
        "(?P<n>a+)(?#no)+",
        "(?>a+)+",
        "(a(?:b|(?=c+)))+",
    ],
)
def test_a_repeated_group_that_repeats_is_refused(nested):
    with pytest.raises(ValueError, match="itself repeated"):
        pattern.checked(nested)


@pytest.mark.parametrize(
    "harmless",
    [
        "(ab)+",
        "[(+]+x",
        r"\(a+\)+",
        "(a+)?b",
        r"(?m)^\./rates today",
        "a{3}b",
        "(?x)a +b",
        "a(?#x+)+",
        "(a{2})+",
    ],
)
def test_other_patterns_are_taken(harmless):
    assert pattern.checked(harmless) == harmless


@pytest.mark.parametrize(
    ("wanted", "text", "there"),
    [
        ("curl .*orders", "x; curl -s host/orders", True),
        ("curl .*orders", "curl " * 2000, False),
        (".*a.*b.*c", "x" * 5000 + "a1b2c", True),
        ("(?m)^b$", "a\nb\n", True),
        ("(ab)+c", "ababc", True),
        (r"(a)\1", "xaax", True),
        ("\u00e9+.*", "caf\u00e9 \udc80", True),
    ],
)
def test_it_finds_what_is_there(wanted, text, there):
    assert found(wanted, text) is there


@pytest.mark.parametrize(
    "wanted",
    [
        "(a|aa)+$",
        "(?x) (a | a) * $",
        "(?x: (?:a|aa) + ) $",
        "(?i)(?:A|aa)*$",
        r"(a|aa)*(?=\1b)$",
        "a?" * 40 + "a" * 40 + "b",
        r"(.*)(.*)(.*)(.*)(.*)\1\2\3\4\5x",
    ],
)
def test_what_would_take_for_ever_is_stopped_and_nobody_knows(monkeypatch, wanted):
    monkeypatch.setattr(pattern, "SEARCH_S", 0.5)
    assert found(wanted, "a" * 60 + "!") is None


def test_a_pattern_that_is_too_long_to_be_compiled_in_no_time_is_refused():
    with pytest.raises(ValueError, match="at most 2,000 characters"):
        pattern.checked("x" * 2001)


def test_a_pattern_of_so_many_wide_ranges_that_compiling_it_takes_long_is_refused():
    with pytest.raises(ValueError, match="ranges span more than 3,000,000 characters"):
        pattern.checked("(?i)" + "([\x01-\U0010ffff])" * 3)
    assert pattern.checked("(?i)[^\x01-\uffff]")


ATOMS = ["a", "b", "aa", ".", "[ab]", "[^b]", r"\w", "^", "$", r"\b", " ", "#", "\n", r"\1", "(?#c)", "|"]
REPEATS = ["", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?", "*+", "++", " *", " +", "(?#c)+"]
GROUPS = [
    "({})",
    "(?:{})",
    "(?x:{})",
    "(?i:{})",
    "(?-i:{})",
    "(?s:{})",
    "(?={})",
    "(?!{})",
    "(?>{})",
    "(?P<n>{})",
]


def made(rng: random.Random, depth: int) -> str:
    def item() -> str:
        return (
            rng.choice(ATOMS)
            if depth == 0 or rng.random() < 0.5
            else rng.choice(GROUPS).format(made(rng, depth - 1))
        )

    return "".join(item() + rng.choice(REPEATS) for _ in range(rng.randint(1, 4)))


def taken(wanted: str) -> bool:
    try:
        pattern.checked(wanted)
    except ValueError:
        return False
    return True


def test_no_pattern_that_is_searched_in_this_process_takes_long():
    """Of thousands of patterns of every flag and kind, all that are held to be short are."""
    rng = random.Random(20)
    texts = ["a" * 30 + "!", "ab" * 200 + "!", "a a#a\n" * 60]
    patterns = {rng.choice(["", "", "(?x)", "(?i)", "(?xs)", "(?m)"]) + made(rng, 3) for _ in range(6000)}
    short = [
        (wanted, text)
        for wanted in sorted(filter(taken, patterns))
        for text in texts
        if pattern.most_steps(wanted, len(text)) <= 2_000_000
    ]
    assert len(short) > 500
    search = (
        "import json, re, sys, time, warnings\nwarnings.simplefilter('ignore')\nlongest = 0\n"
        "for p, t in json.load(sys.stdin):\n    c, b = re.compile(p), time.perf_counter()\n    c.search(t)\n"
        "    longest = max(longest, time.perf_counter() - b)\nprint(longest)"
    )
    done = subprocess.run(
        [sys.executable, "-c", search],
        input=json.dumps(short),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert float(done.stdout) < 1


def test_a_process_of_its_own_finds_the_same():
    rng = random.Random(21)
    apart = [
        w for w in (made(rng, 2) for _ in range(300)) if taken(w) and pattern.most_steps(w, 12) > 2_000_000
    ]
    assert len(apart) > 10
    for wanted in apart[:25]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert found(wanted, "aab a#\naa b") is (re.search(wanted, "aab a#\naa b") is not None)


def test_several_texts_are_searched_at_once_the_long_ones_apart():
    slow = pattern.checked("a*a*a*b")
    long = "a" * 400
    assert asyncio.run(pattern.found_in_any(slow, ["x", long])) is False
    assert asyncio.run(pattern.found_in_any(slow, [long, "x\0y", f"{long}b"])) is True
    assert asyncio.run(pattern.found_in_any(slow, [])) is False


@pytest.mark.parametrize(
    ("wanted", "text", "there"),
    [
        ("git push .*-f", "x" * 50_000, False),
        ("(?i)GIT push .*-f", "a git PUSH x -f", True),
        ("(?i:git) push .*-f", "a GIT push x -f", True),
        ("a|b.*c.*d", "a", True),
        ("(?x) git \\  push # no comment", "git push", True),
        ("x{0}y?z.*", "z", True),
        ("ab*", "a", True),
        ("", "", True),
    ],
)
def test_what_every_match_holds_is_looked_for_first(wanted, text, there):
    assert asyncio.run(pattern.found_in_any(pattern.checked(wanted), [text])) is there
