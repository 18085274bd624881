"""Does a user who imports tau-bench's recorded run see the published numbers?"""

from __future__ import annotations

import json

import pytest


def test_pass_hat_k_as_published(command, shared_data):
    known = json.loads((shared_data / "expected.json").read_text("utf-8"))["values"]
    published = known["tau_bench/gpt-4o-airline/pass_hat_k"]["published"]
    made = command(
        "import", "tau-bench", str(shared_data / "tau_bench" / "gpt-4o-airline.json"), "--out", "run"
    )
    assert made.code == 0, made.err
    (agent,) = json.loads(command("show", "run", "--json").out)["agents"]
    assert agent["agent"] == "tau-bench/gpt-4o"
    values = [agent["metrics"][f"pass^{k}"]["value"] for k in range(1, 5)]
    assert values == pytest.approx(published["value"], abs=published["within"])
    plain = command("show", "run", "--all-metrics").out
    for k, value in enumerate(("0.42", "0.27", "0.22", "0.20"), 1):
        assert any(line.split()[:2] == [f"pass^{k}", value] for line in plain.splitlines())
