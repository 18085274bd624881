"""Whatever a trial says, in whichever field, it is shown as text and nothing of it runs."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from evalkit.report.shown_text import name
from evalkit.report.trajectories import chosen
from evalkit.scoring.scored_trials import read_scored
from evalkit.trajectory.reader import Run
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

ATTACKS = (
    "<script>window.ran = 1</script>",
    "</script><script>window.ran = 1</script>",
    '"><img src=x onerror="window.ran = 1">',
    "<svg onload=window.ran=1><style>*{display:none}</style>",
    "javascript:window.ran=1//",
    "data:text/html,<script>parent.ran=1</script>",
    "{{7*7}}{% for x in ().__class__.__base__.__subclasses__() %}${window.ran=1}#{window.ran=1}`${window.ran=1}`",
    "';window.ran=1;//\\';window.ran=1;//\u2028window.ran=1\u2029",
    "\x1b]8;;javascript:window.ran=1\x07\x1b[31m\x00\x9b2J\u202eevil\u2066\u200b\ufeff\ud800\U000e0041",
    "<!--<script>]]><![CDATA[ &lt;script&gt;window.ran=1 --><base href=//evil.example><meta http-equiv=refresh>",
    "#view=trials&trial=x&step=1&x=<b>",
    "__proto__",
    "constructor",
)
WORDS = {
    "status": "failed", "stop_reason": "error", "error_origin": "model", "depth": "own", "reasoning_visibility": "full",
    "reasoning_source": "api", "role": "user", "error_kind": "timeout", "event": "error",
}  # fmt: skip
"""Fields whose values are from a closed set, which a record refuses to leave."""


def filled(record: type[Any], text: str, **given: Any) -> Any:
    """A record with `text` in every field that may hold one."""
    types = {field.name: str(field.type) for field in dataclasses.fields(record)}
    own: dict[str, Any] = {key: text for key, type_ in types.items() if type_ in {"str", "str | None"}}
    own |= {key: word for key, word in WORDS.items() if key in types}
    return record(**{**own, **given})


def hostile(number: int, text: str) -> tuple[Trial, tuple[Step, ...], tuple[ScoreRow, ...]]:
    key = f"{number} {text}"
    trial = filled(
        Trial,
        text,
        run_id="run-1",
        trial_id=key,
        task_id=key,
        epoch=1,
        skills=(text,),
        rewards={text: 1.0},
        checks={text: False},
    )
    quoted = json.dumps({"id": text, "kind": text, "canary": text, "visible": True})
    steps = (
        filled(Prompt, text, step=0),
        filled(Think, text, step=1, output_tokens=5),
        filled(Act, text, step=2, arguments=None),
        filled(Act, text, step=3, arguments=json.dumps({"command": text, text: [text]}), arguments_raw=None),
        filled(Event, text, step=4, parent_step=2, event="fault", detail=quoted),
        filled(Event, text, step=5),
    )
    return trial, steps, (filled(ScoreRow, text, trial_id=key, value=1.0, evidence=(2,)),)


@pytest.fixture
def attacked(recorded: Callable[..., Run], written_page: Any, opened: Any) -> Any:
    run = recorded(*(hostile(number, text) for number, text in enumerate(ATTACKS)))
    page = opened(written_page(chosen([(ATTACKS[1], run)], read_scored(run))), "#view=trials")
    yield page
    assert page.page.evaluate("window.ran") is None
    assert page.violations() == []
    assert page.said == []
    assert len(page.requests) == 1


def test_a_list_of_hostile_trials_is_only_text(attacked: Any) -> None:
    shown = attacked.page.locator("#list tbody a").all_text_contents()

    assert len(shown) == len(ATTACKS)
    assert "0 <script>window.ran = 1</script>" in shown
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "".join(shown))
    assert attacked.page.locator("#list :is(script, img, svg, style, base, meta)").count() == 0


@pytest.mark.parametrize("number", range(len(ATTACKS)))
def test_a_hostile_trial_is_only_text(attacked: Any, number: int) -> None:
    links = attacked.page.locator("#list tbody a")
    at = next(at for at, text in enumerate(links.all_text_contents()) if text.startswith(f"{number} "))
    links.nth(at).click()
    attacked.page.wait_for_selector(".trial")

    shown = str(name(ATTACKS[number].replace("\ud800", "\ufffd")))
    for step in range(4):
        assert shown in attacked.page.locator(".step pre").nth(step).text_content()
    assert shown in attacked.page.locator(".checks li").text_content()
    assert shown in attacked.page.locator(".scores tbody tr").text_content()
    assert attacked.page.locator("#one :is(script, img, style, base, meta, iframe, object)").count() == 0
    addresses = attacked.page.eval_on_selector_all(
        "#one a", "links => links.map(link => link.getAttribute('href'))"
    )
    assert addresses
    assert all(address.startswith("#view=trial&trial=") for address in addresses)
    assert attacked.page.evaluate(
        "[...document.querySelectorAll('#one *')].flatMap(one => [...one.attributes])"
        ".every(found => !/^(on|style$)/i.test(found.name))"
    )
    attacked.page.locator("input[type=search]").fill(shown[:10])
    assert attacked.page.locator(".step mark").count() > 0


def test_a_line_of_two_megabytes_is_cut_and_the_page_stays_quick(
    recorded: Callable[..., Run], written_page: Any, opened: Any
) -> None:
    trial, steps, scores = hostile(0, "<b>" + "x" * 2_000_000)
    trial = dataclasses.replace(trial, trial_id="t", task_id="t", agent="a", suite="s", variant="v")
    run = recorded((trial, steps, [dataclasses.replace(score, trial_id="t") for score in scores]))
    path = written_page(chosen([("run", run)], read_scored(run)))

    page = opened(path, "#view=trial&trial=t")

    assert path.stat().st_size < 300_000
    assert "1,980,003 characters left out" in page.page.locator(".step pre").first.text_content()
    assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.said == []
    assert page.page.evaluate("window.ran") is None
