"""Each scripted agent does exactly what docs/scripted-agents.md says: told by a world that answers its calls."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.models.personas.observation import Seen
from evalkit.models.personas.player import believing
from evalkit.models.reply import Reply, Turn
from evalkit.models.scripted import PERSONAS, find_persona

OK = "[exit code 0]\n"
BROKEN = "[stderr]\nunknown option\n[exit code 2]\n"
DOWN = "[stderr]\n500 Internal Server Error\n[exit code 1]\n"
BUSY = "[stderr]\n429 Too Many Requests, retry-after: 0.5\n[exit code 1]\n"
FORBIDDEN = "[stderr]\nsh: permission denied\n[exit code 126]\n"
FULL = "[stderr]\ncp: error writing 'x': No space left on device\n[exit code 1]\n"
SLOW = "[timed out after 120 s; it was stopped with everything it had started]\n"
HINTED = '{"error":{"hint":"Run it again.","kind":"unavailable","message":"500"},"stderr":"500","stdout":""}'
TOLD_TO_WAIT = (
    '{"error":{"hint":"Wait.","kind":"rate_limited","message":"429","retry_after_s":2},"stdout":""}'
)


@dataclass(frozen=True)
class Move:
    thought: str
    command: str


A, B = Move("look", "ls"), Move("fix it", "make")
READ, WRITE = Move("read", "stock list"), Move("write", 'echo "${OBSERVED-$(stock list)}" > out')


def played(name: str, moves: tuple[Move, ...], world: Callable[[str, int], str]) -> list[str]:
    """The lines a persona runs in a world that answers (line, times run before); the last is how it ended."""
    script = find_persona(name).make(moves)
    conversation, lines = [Turn("system", "s"), Turn("user", "u")], []
    while True:
        reply: Reply = script.reply(conversation)
        (call,) = reply.calls
        if call.tool != "bash":
            return [*lines, call.tool]
        line = str(call.arguments["command"])
        conversation += [
            Turn("assistant", "", calls=reply.calls),
            Turn("tool", world(line, lines.count(line)), tool="bash"),
        ]
        lines.append(line)


def failing(line: str, how: str, times: int = 99) -> Callable[[str, int], str]:
    """A world in which one line fails so many times."""
    return lambda run, before: how if run == line and before < times else OK


ABOUT_THINKING = {"overthinker", "underthinker", "rogue", "budgeted"}
"""They think or act in ways of their own: tests/models/test_personas_of_thinking.py."""
PLAYING = [
    persona.name for persona in PERSONAS if persona.needs_solution and persona.name not in ABOUT_THINKING
]


@pytest.mark.parametrize("name", [name for name in PLAYING if name != "recoverer"])
def test_in_a_world_without_faults_each_piece_is_played_once(name):
    assert played(name, (A, B), failing("", OK)) == ["ls", "make", "submit"]
    ran = played(name, (READ, WRITE), failing("", OK))
    assert (len(ran), ran[-1]) == (3, "submit")


@pytest.mark.parametrize(
    ("how", "again"),
    [
        (DOWN, ["make"]),
        (SLOW, ["make"]),
        (FORBIDDEN, ["make"]),
        (FULL, ["make"]),
        (HINTED, ["make"]),
        (BUSY, ["sleep 0.5", "make"]),
        (TOLD_TO_WAIT, ["sleep 2", "make"]),
        (BROKEN, []),
    ],
)
def test_the_oracle_repeats_only_what_something_outside_kept_from_working(how, again):
    assert played("oracle", (B, A), failing("make", how, 1)) == ["make", *again, "ls", "submit"]


def test_the_oracle_tries_a_piece_eight_times_at_most():
    assert played("oracle", (B, A), failing("make", DOWN)) == ["make"] * 8 + ["ls", "submit"]


def test_the_oracle_waits_before_each_of_its_tries():
    ran = played("oracle", (B,), failing("make", BUSY, 2))
    assert ran == ["make", "sleep 0.5", "make", "sleep 0.5", "make", "submit"]


def test_the_oracle_reads_for_itself_and_believes_no_observation():
    assert played("oracle", (READ, WRITE), lambda *_: f"17\n{OK}") == [READ.command, WRITE.command, "submit"]


@pytest.mark.parametrize("name", ["believer", "naive"])
def test_believers_go_on_whatever_fails(name):
    assert played(name, (B, A), failing("make", DOWN)) == ["make", "ls", "submit"]


@pytest.mark.parametrize("name", ["believer", "naive", "recoverer"])
def test_believers_give_what_they_saw_to_the_piece_that_asks_for_it(name):
    ran = played(name, (READ, WRITE), lambda *_: f"it's 17\n{OK}")
    assert ran[-2:] == [f"OBSERVED={shlex.quote(chr(39).join(('it', 's 17')))}\n{WRITE.command}", "submit"]


def test_what_was_seen_can_be_nothing():
    ran = played("believer", (READ, WRITE), lambda *_: OK)
    assert ran[1] == f"OBSERVED=''\n{WRITE.command}"


def test_only_the_call_right_before_is_what_was_seen():
    ran = played("believer", (READ, A, WRITE), lambda line, _: f"of {line}\n{OK}")
    assert ran[2].startswith("OBSERVED='of ls'\n")


def test_the_recoverer_reads_twice_what_it_builds_on():
    assert played("recoverer", (READ, WRITE), lambda *_: f"17\n{OK}")[:2] == [READ.command] * 2


def test_the_recoverer_reads_until_two_readings_agree():
    ran = played("recoverer", (READ, WRITE), lambda _, before: f"{17 if before else 99999}\n{OK}")
    assert ran == [*[READ.command] * 3, f"OBSERVED=17\n{WRITE.command}", "submit"]


def test_the_recoverer_stops_reading_after_eight_readings():
    ran = played("recoverer", (READ, WRITE), lambda _, before: f"{before}\n{OK}")
    assert ran.count(READ.command) == 8


def test_the_recoverer_does_not_take_two_equal_failures_for_an_answer():
    ran = played("recoverer", (READ, WRITE), failing(READ.command, BUSY, 2))
    assert ran[:4] == [READ.command, "sleep 0.5", READ.command, "sleep 0.5"]
    assert ran[4:6] == [READ.command] * 2


@pytest.mark.parametrize("how", [DOWN, SLOW, HINTED])
def test_the_recoverer_repeats_what_failed_for_a_moment(how):
    assert played("recoverer", (B, A), failing("make", how, 1)) == ["make", "make", "ls", "submit"]


def test_the_recoverer_waits_as_it_is_told():
    ran = played("recoverer", (B,), failing("make", BUSY, 1))
    assert ran == ["make", "sleep 0.5", "make", "submit"]


@pytest.mark.parametrize("how", [BROKEN, FORBIDDEN, FULL])
def test_the_recoverer_looks_into_other_failures_before_it_tries_again(how):
    ran = played("recoverer", (B,), failing("make", how, 1))
    assert ran == ["make", "pwd; ls -la", "make", "submit"]


def test_the_recoverer_tries_eight_times_at_most():
    assert played("recoverer", (B,), failing("make", BROKEN)).count("make") == 8


@pytest.mark.parametrize(("times", "tries"), [(1, 2), (2, 3), (99, 3)])
@pytest.mark.parametrize("how", [DOWN, BUSY, BROKEN])
def test_the_repeater_runs_what_fails_three_times_in_all_with_nothing_between(how, times, tries):
    assert played("repeater", (B, A), failing("make", how, times)) == ["make"] * tries + ["ls", "submit"]


def test_the_quitter_reports_the_task_as_impossible_at_the_first_failure():
    assert played("quitter", (A, B, A), failing("make", BUSY, 1)) == ["ls", "make", "report_impossible"]


@pytest.mark.parametrize(("times", "tries"), [(1, 2), (99, 10)])
def test_the_stormer_repeats_at_once_up_to_ten_times(times, tries):
    assert played("stormer", (B, A), failing("make", BUSY, times)) == ["make"] * tries + ["ls", "submit"]


@pytest.mark.parametrize("how", [DOWN, BUSY, SLOW, BROKEN])
def test_the_hint_needer_goes_on_where_no_hint_is_given(how):
    assert played("hint-needer", (B, A), failing("make", how)) == ["make", "ls", "submit"]


def test_the_hint_needer_does_what_a_hint_says():
    assert played("hint-needer", (B,), failing("make", HINTED, 1)) == ["make", "make", "submit"]
    assert played("hint-needer", (B,), failing("make", TOLD_TO_WAIT, 1)) == [
        "make",
        "sleep 2",
        "make",
        "submit",
    ]
    assert played("hint-needer", (B,), failing("make", HINTED)).count("make") == 8


@pytest.mark.parametrize("name", PLAYING)
def test_a_reply_depends_on_the_conversation_alone(name):
    script = find_persona(name).make((READ, WRITE))
    conversation = [Turn("user", "u"), Turn("assistant", ""), Turn("tool", DOWN, tool="bash")]
    once = script.reply(conversation)
    script.reply(conversation[:1])
    assert script.reply(conversation) == once


@pytest.mark.parametrize("name", PLAYING)
def test_a_call_without_a_result_is_no_failure(name):
    conversation = [Turn("user", "u"), Turn("assistant", ""), Turn("user", "go on")]
    reply = find_persona(name).make((A, B)).reply(conversation)
    assert reply.calls[0].arguments == {"command": "make"}


@pytest.mark.parametrize("name", PLAYING)
def test_thoughts_are_the_reasoning(name):
    reply = find_persona(name).make((A, B)).reply([Turn("user", "u")])
    assert (reply.reasoning, reply.text) == ("look", "")


def test_who_plays_another_solution_than_the_tasks_own():
    assert {
        persona.name: persona.solutions for persona in PERSONAS if persona.solutions != ("solve.sh",)
    } == {"naive": ("naive.sh", "solve.sh"), "trespasser": ("trespass.sh", "solve.sh")}


def test_what_is_played_beside_a_solution():
    beside = {persona.name: (persona.beside, len(persona.without)) for persona in PERSONAS if persona.beside}
    assert beside == {"vandal": ("vandal.sh", 0), "litterer": ("litter.sh", 3)}


@given(st.text())
def test_whatever_was_seen_is_quoted(text):
    line = believing(WRITE, Seen(f"{text}\n\n"))
    first = shlex.split(line)[0]
    assert first == f"OBSERVED={text}".replace("\0", "").rstrip("\n")
