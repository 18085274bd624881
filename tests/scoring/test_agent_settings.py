"""How an agent was set up is told by the trials that know it."""

from __future__ import annotations

import evalkit
from evalkit.scoring.agent_settings import settings_of


def test_a_trial_that_was_cut_off_before_it_began_knows_nothing_of_its_agent(made, finished):
    run = finished(
        made("t1", model="m1", sandbox="local"),
        made("t2", status="unscored"),
        made("t3", agent="b", status="unscored"),
        made("t4", agent="c"),
        made("t5", agent="c", model="m1"),
    )
    found = settings_of(evalkit.load(str(run)))
    assert (found["a"]["model"], found["a"]["sandbox"]) == ("m1", "local")
    assert found["b"]["model"] == "-"
    assert found["c"]["model"] == "-, m1"
