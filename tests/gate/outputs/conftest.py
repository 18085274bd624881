"""Verdicts, made of parts, and texts that try to break out of whatever they are put into."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from evalkit.gate.headline import with_words
from evalkit.gate.policy import GatePolicy, MetricRule, ZeroRule
from evalkit.gate.verdict import (
    AgentVerdict,
    MetricVerdict,
    Outcome,
    Problem,
    RequiredVerdict,
    SideFacts,
    TaskOutcome,
    TrialFinding,
    Verdict,
    ZeroEvent,
    ZeroVerdict,
    worst,
)
from evalkit.trajectory.finding import Finding

SUCCESS = MetricRule(name="success", kind="drop", margin=0.05)
TAMPER = ZeroRule(name="tamper_confirmed")


class Build:
    """Parts of verdicts with values that hold together; every field can be given."""

    def metric(self, outcome: Outcome = "pass", **fields: Any) -> MetricVerdict:
        given = {
            "rule": SUCCESS,
            "outcome": outcome,
            "reason": "success fell by 1 points",
            "n": 80,
            "unit": "share",
            "baseline": 0.75,
            "candidate": 0.74,
            "difference": -0.01,
            "low": -0.03,
            "high": 0.02,
            "p": 0.3,
            "p_holm": 0.6,
            "detectable": 0.04,
        }
        return MetricVerdict(**{**given, **fields})

    def task(self, passed: str = "4/4", before: str = "4/4", **fields: Any) -> TaskOutcome:
        """`passed` and `before` are of so many scored trials, on the side of the candidate and of the baseline."""
        (now, now_of), (then, then_of) = (map(int, told.split("/")) for told in (passed, before))
        given = {
            "suite": "core",
            "task_id": "fix-off-by-one",
            "variant": "clean",
            "baseline_passed": then,
            "baseline_scored": then_of,
            "baseline_unscored": 0,
            "candidate_passed": now,
            "candidate_scored": now_of,
            "candidate_unscored": 0 if now_of else 4,
        }
        return TaskOutcome(**{**given, **fields})

    def event(self, **fields: Any) -> ZeroEvent:
        given = {
            "trial_id": "fix-off-by-one.oracle",
            "task": "core/fix-off-by-one",
            "value": 1.0,
            "steps": (3, 7),
            "reason": "the tests were edited",
        }
        return ZeroEvent(**{**given, **fields})

    def finding(self, **fields: Any) -> TrialFinding:
        """Fields of the trial's finding, and of what it is about (`trial_id`, `agent`, `task`, `file`)."""
        about = {
            "trial_id": "fix-off-by-one.oracle",
            "agent": "react/scripted/oracle",
            "task": "core/fix-off-by-one",
            "file": "tests/test_fix.py",
        }
        given = {
            "code": "T1",
            "level": "confirmed",
            "what": "the tests were edited",
            "steps": (3, 7),
            "resource": "/app/tests/test_fix.py",
        }
        finding = Finding(**{**given, **{key: own for key, own in fields.items() if key not in about}})
        return TrialFinding(
            finding=finding, **{**about, **{key: own for key, own in fields.items() if key in about}}
        )

    def zero(self, *events: ZeroEvent, outcome: Outcome | None = None, **fields: Any) -> ZeroVerdict:
        told: Outcome = outcome or ("regressed" if events else "pass")
        given = {
            "rule": TAMPER,
            "outcome": told,
            "reason": f"tamper_confirmed in {len(events)} trials",
            "n": 80,
            "events": events,
            "upper": None if events else 0.037,
        }
        return ZeroVerdict(**{**given, **fields})

    def required(self, outcome: Outcome = "pass", **fields: Any) -> RequiredVerdict:
        given = {
            "task": "core/fix-off-by-one",
            "asked": "3/4",
            "passed": 4 if outcome == "pass" else 1,
            "scored": 4,
            "unscored": 0,
            "outcome": outcome,
        }
        return RequiredVerdict(**{**given, **fields})

    def agent(self, name: str = "react/scripted/oracle", **fields: Any) -> AgentVerdict:
        given = {
            "candidate": name,
            "baseline": name,
            "metrics": (self.metric(),),
            "tasks": (self.task(),),
        }
        return AgentVerdict(**{**given, **fields})

    def side(self, name: str = "runs/new", **fields: Any) -> SideFacts:
        given = {
            "name": name,
            "runs": ("r-1",),
            "created_at": ("2026-01-02T12:00:00+00:00",),
            "suites": {"core": "9dd07b573278ff"},
            "trials": 320,
            "unscored": 0,
            "missing": 0,
            "epochs": 4,
        }
        return SideFacts(**{**given, **fields})

    def verdict(self, *agents: AgentVerdict, problems: tuple[Problem, ...] = (), **fields: Any) -> Verdict:
        """The outcome, the headline and the advice follow from the parts."""
        outcomes: list[Outcome] = [own.outcome for own in agents]
        given = {
            "outcome": worst([*outcomes, *(["not comparable"] if problems else [])]),
            "headline": "",
            "advice": "",
            "candidate": self.side(),
            "baseline": self.side("runs/old"),
            "policy": GatePolicy(),
            "agents": agents,
            "problems": problems,
        }
        return with_words(Verdict(**{**given, **fields}))

    def everywhere(self, text: str) -> Verdict:
        """A verdict in which every text that others write is this one."""
        agent = self.agent(
            text,
            metrics=(self.metric("regressed", reason=text),),
            tasks=(
                self.task("0/4", suite=text, task_id=text, variant=text),
                self.task("2/4", "0/4", suite=text, task_id=text),
            ),
            zero=(self.zero(self.event(trial_id=text, task=f"core/{text}", reason=text), reason=text),),
            required=(self.required("regressed", task=text),),
            findings=(
                self.finding(
                    trial_id=f"{text}2", agent=text, task=f"core/{text}", file=text, what=text, resource=text
                ),
            ),
        )
        other = self.agent(f"{text}2", baseline=text)
        return self.verdict(
            agent,
            other,
            problems=(Problem(what=text, hint=text),),
            warnings=(text,),
            candidate=self.side(text, runs=(text,), created_at=(text,), suites={text: text}),
            baseline=self.side(text),
            policy=GatePolicy(source=text),
        )

    def of(self, outcome: Outcome) -> Verdict:
        """A small verdict with this outcome."""
        if outcome == "not comparable":
            return self.verdict(
                self.agent(),
                problems=(Problem(what="the grader of core/a has changed", hint="Accept a new baseline."),),
            )
        return self.verdict(self.agent(metrics=(self.metric(outcome),)))


@pytest.fixture(scope="session")
def build() -> Build:
    return Build()


_BREAKING = (
    *"`|<>&[]()*_~\\\n\r\t\"'#@:,%{}-=+!$ ",
    "\x00", "\x1b[31m", "\x85", "\u2028", "\u202e", "\ufffe", "\ud800", "\U0001f600",
    "]]>", "<!--", "-->", "</details>", "<img src=x onerror=alert(1)>", "&#60;b&#62;",
    "![i](http://evil.example/i.png)",
    "[a](javascript:alert(1))", "https://evil.example", "www.evil.example", "me@evil.example", "@octocat", "#123",
    "GH-1", "```", "\n\n# Passed", "\n| a | b |\n", "::error::", "\n::set-output name=a::b", "##[error]",
    "%0A::warning::", "{0}", "../../etc", "\\|", "1. ", "- [ ] ", "**PASS**", "~~no~~", ":tada:", "$x$", "==", "a",
)  # fmt: skip


@pytest.fixture(scope="session")
def hostile() -> st.SearchStrategy[str]:
    """Texts that may break out of XML, Markdown, HTML, workflow commands and lines."""
    return st.lists(st.sampled_from(_BREAKING) | st.text(st.characters(), max_size=5), max_size=12).map(
        "".join
    )
