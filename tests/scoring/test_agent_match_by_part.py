"""An agent is known by its whole id, or by a part of it that only it has."""

from __future__ import annotations

import pytest

from evalkit.errors import UsageError
from evalkit.scoring.agent_match import match_agents

AGENTS = ("react/scripted/oracle", "react/scripted/nop", "react/provider/nop")


def test_a_part_between_slashes_is_enough() -> None:
    matched = match_agents(AGENTS, AGENTS, wanted=("oracle", "provider/nop"))
    assert matched.pairs == (("react/scripted/oracle", "react/provider/nop"),)


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("nop", "may be any of these agents of run A: react/scripted/nop, react/provider/nop"),
        ("orac", "run A has no agent 'orac'"),
        ("", "run A has no agent ''"),
    ],
)
def test_what_is_no_one_agent_is_refused(agent, said) -> None:
    with pytest.raises(UsageError, match=said):
        match_agents(AGENTS, AGENTS, wanted=(agent, "oracle"))
