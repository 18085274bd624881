"""What a sealed grader may write to, and that Harbor's graders, which write anywhere, go on working in every mode."""

from __future__ import annotations

import json

import pytest

from evalkit.trajectory.finding import Finding
from evalkit.trajectory.step import Event

HARBOR = """\
schema_version = "1.4"
{artifacts}
{mode}
[environment]
network_mode = "no-network"
"""
# Much as graders of Harbor's own tasks do: tools are looked for and configured, the tests work where the agent did.
HARBOR_TEST = """\
#!/bin/bash
set -e
mkdir -p /root/.cache ~/.config && echo x > ~/.config/tool
command -v apt-get >/dev/null && apt-get --version >/dev/null
echo 'Acquire::Retries "3";' > /etc/apt/apt.conf.d/99retries || true
cd /app && touch in-the-working-directory && mkdir -p build && cp out build/copy
cp /tests/expected.txt /app/expected.txt
if cmp -s build/copy expected.txt; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
MODES = {
    "sealed": HARBOR.format(artifacts='artifacts = ["/app/out"]', mode=""),
    "snapshot": HARBOR.format(artifacts="", mode=""),
    "shared": HARBOR.format(artifacts="", mode='[metadata.evalkit.grading]\nmode = "shared"'),
}
SEALED = HARBOR.format(
    artifacts='artifacts = ["/app/out"]', mode='[metadata.evalkit.grading]\nmode = "sealed"'
)


@pytest.mark.parametrize("mode", MODES)
def test_a_grader_of_harbors_that_writes_anywhere_works_in_every_mode(make_suite, run_any, mode):
    files = {"task.toml": MODES[mode], "tests/test.sh": HARBOR_TEST, "tests/expected.txt": "done\n"}
    suite = make_suite(one=files)
    rows = run_any(suite, "scripted/oracle", "scripted/nop").rows()
    said = {row.model: (row.grader_mode, row.status) for row in rows}
    # Without the file its `cp` fails, and so the grader is silent.
    assert said == {"scripted/oracle": (mode, "passed"), "scripted/nop": (mode, "unscored")}


WRITES = """\
#!/bin/sh
for path in /app/out /app/new /tests/new /etc/new /var/new /root/new /tests/test.sh; do
    (echo x >> $path) 2>/dev/null && echo "$path" >> /tmp/written
done
touch /tmp/new /logs/new /logs/verifier/new /dev/shm/new || echo scratch >> /tmp/written
cat /tmp/written >&2
if [ "$(cat /app/out)" = done ] && [ ! -s /tmp/written ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""


@pytest.mark.local
def test_a_grader_that_asks_to_be_sealed_writes_to_its_scratch_folders_only(make_suite, run_suite):
    suite = make_suite(one={"task.toml": SEALED, "tests/test.sh": WRITES})
    (row,) = run_suite(suite).rows()
    assert (row.status, row.error_message) == ("passed", None)


def test_nobody_but_its_owner_may_write_to_what_a_sealed_grader_is_given(make_suite, run_any):
    solve = "# step: Make.\necho done > out; chmod 666 out\n"
    look = '#!/bin/sh\n[ "$(stat -c %a /app/out)" = 644 ] && echo 1 > /logs/verifier/reward.txt\n'
    suite = make_suite(one={"task.toml": SEALED, "tests/test.sh": look, "solution/solve.sh": solve})
    assert [row.status for row in run_any(suite).rows()] == ["passed"]


def test_evidence_of_a_grader_that_signs_is_on_record(make_suite, run_any):
    word = '{"nonce": "%s", "reward": 1, "evidence": [{"code": "T6", "level": "confirmed", "what": "equal to all"}]}'
    grader = f"#!/bin/sh\nread nonce\nprintf '{word}' \"$nonce\" > /logs/verifier/verdict.json\n"
    run = run_any(make_suite(one={"task.toml": SEALED, "tests/test.sh": grader}))
    (row,) = run.rows()
    _, steps = run.trial(row.trial_id)
    details = [step.detail for step in steps if isinstance(step, Event) and step.event == "tampering"]
    found = [Finding.from_json(detail) for detail in details]
    assert found == [Finding(code="T6", level="confirmed", what="equal to all", source="grader")]
    assert json.loads(details[0])["in_force"] is True
