"""Which secrets of another harness's trajectories are taken out, and which stay?"""

from __future__ import annotations

import json

import pytest

import evalkit
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.convert.secret_fields import MARK, is_secret, without_secrets

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "passwd",
        "private_key",
        "ssh_key",
        "sshKey",
        "cookie",
        "GITHUB_TOKEN",
        "db-password",
        "apiKey",
    ],
)
def test_a_setting_under_a_secrets_name_is_taken_out_whatever_it_is(name):
    assert is_secret(name)
    assert without_secrets({"own": {name: "plain word"}}) == {"own": {name: MARK}}


def test_of_texts_and_arguments_only_what_looks_like_a_secret_is_taken_out(tmp_path):
    call = {
        "cmd": "login",
        "password": "swordfish",
        "GITHUB_TOKEN": "a1b2c3d4e5f6",
        "header": "Cookie: sid=a1b2c3d4",
    }
    messages = [
        {"role": "user", "content": f"The password is swordfish. Use curl -u bob:swordfish, or {JWT}."},
        {
            "role": "assistant",
            "content": "Yes.",
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "sh", "arguments": json.dumps(call)}}
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "Set-Cookie: sid=a1b2c3d4; Secure"},
    ]
    (tmp_path / "a.jsonl").write_text(json.dumps({"messages": messages}))
    done = import_run("openai-messages", [tmp_path / "a.jsonl"], tmp_path / "run", Options())
    (trial,) = evalkit.load(done.path).rows()
    stored = repr(evalkit.load(done.path).trial(trial.trial_id)[1])
    for secret in ("bob:swordfish", JWT, "a1b2c3d4"):
        assert secret not in stored
    assert "The password is swordfish." in stored
    assert '"password":"swordfish"' in stored
