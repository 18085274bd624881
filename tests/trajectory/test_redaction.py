"""Which texts are secrets, and which only look like some?"""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.trajectory.redaction import redact

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
RANDOM = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3"


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("api_key=abc123def", "api_key=[redacted:api_key]"),
        ("export SERVICE_API_KEY='hunter2 '", "export SERVICE_API_KEY='[redacted:api_key]'"),
        ('api_key = "correct horse battery staple"; next', 'api_key = "[redacted:api_key]"; next'),
        ('api_key = "cut off in the', 'api_key = "[redacted:api_key] off in the'),
        ("api key: abcdef1234567890", "api key: [redacted:api_key]"),
        ("aws_session_token=IQoJb3JpZ2luX2VjEXAMPLE", "aws_session_token=[redacted:api_key]"),
        ("AZURE_OPENAI_KEY=0123456789abcdef", "AZURE_OPENAI_KEY=[redacted:api_key]"),
        ("bearer: abcdefghijkl1234567890", "bearer: [redacted:bearer]"),
        ("nvapi-abcdefghijklmnopqrstuvwxyz0123456789", "[redacted:nvidia_key]"),
        ("pplx-abcdefghijklmnopqrstuvwxyz0123456789", "[redacted:perplexity_key]"),
        ("r8_abcdefghijklmnopqrstuvwxyz0123456789A", "[redacted:replicate_token]"),
        (
            "https://hooks.slack.com/services/T00/B00/abcdefghijklmnopqrstuvwx",
            "https://[redacted:slack_webhook]",
        ),
        ("hf_abcdefghijklmnopqrstuvwxyzabcdefgh", "[redacted:hf_token]"),
        ("sk-proj-AbCdEfGhIjKlMnOpQrStUvWx", "[redacted:openai_key]"),
        ("sk-abcdefghijklmnopqrstuvwxyzabcdefghijkl", "[redacted:openai_key]"),
        ("sk-qwhzkfjvbnxmpltrgdsaw", "[redacted:openai_key]"),
        ("sk-or-v1-0123456789abcdef0123456789abcdef", "[redacted:openai_key]"),
        ("postgres://user:s3cr3t@db/x", "postgres://user:[redacted:url_password]@db/x"),
        ("redis://:p@ss@db", "redis://:[redacted:url_password]@db"),
        ("x-api-key: 0123456789abcdef", "x-api-key: [redacted:api_key]"),
        ("curl 'https://a/?api_key=abc123&page=2'", "curl 'https://a/?api_key=[redacted:api_key]&page=2'"),
        ("tool --api-key abcdef0123456789 run", "tool --api-key [redacted:api_key] run"),
        ('{"api_key": "not-a-real-key"}', '{"api_key": "[redacted:api_key]"}'),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = [redacted:api_key]"),
        ("client_secret=abcdef123", "client_secret=[redacted:api_key]"),
        ("Authorization: Bearer abcdef12", "Authorization: Bearer [redacted:authorization]"),
        ('"Authorization": "Basic dXNlcjpwYXNz"', '"Authorization": "Basic [redacted:authorization]"'),
        (f"with bearer {RANDOM}", "with bearer [redacted:bearer]"),
        (f"key sk-{RANDOM} end", "key [redacted:openai_key] end"),
        (f"sk-proj-{RANDOM}", "[redacted:openai_key]"),
        (f"sk-ant-api03-{RANDOM}", "[redacted:openai_key]"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted:aws_key]"),
        (f"ghp_{RANDOM}abc", "[redacted:github_token]"),
        (f"github_pat_{RANDOM}", "[redacted:github_token]"),
        (f"hf_{RANDOM}", "[redacted:hf_token]"),
        (f"AIza{RANDOM}ab", "[redacted:google_key]"),
        ("xoxb-123456789012-abcdef", "[redacted:slack_token]"),
        (f"token {JWT} end", "token [redacted:jwt] end"),
        (f"pypi-AgEIcHlwaS5vcmc{RANDOM}", "[redacted:pypi_token]"),
        ("Cookie: theme=dark; sid=3f9a8b7c6d5e", "Cookie: [redacted:cookie]"),
        ("-H 'Cookie: sid=3f9a8b7c6d5e' x", "-H 'Cookie: [redacted:cookie]' x"),
        ("Set-Cookie: sid=3f9a8b7c6d5e; Path=/; Secure", "Set-Cookie: [redacted:cookie]; Secure"),
        ('{"cookie": "3f9a8b7c6d5e"}', '{"cookie": "[redacted:secret]"}'),
        ("Proxy-Authorization: Basic dXNlcjpwYXNz", "Proxy-Authorization: Basic [redacted:authorization]"),
        (
            '"authorization": "abcdefghzkqjxwvtrbnmplkjhgfdqwrt"',
            '"authorization": "[redacted:authorization]"',
        ),
        ("authorization: 0a1b2c3d4e5f6a7b8c9d", "authorization: [redacted:authorization]"),
        ("curl -s -u bob:hunter2 https://x", "curl -s -u bob:[redacted:password] https://x"),
        ("curl --user 'bob:s3cr3t' x", "curl --user 'bob:[redacted:password]' x"),
        ('{"cmd": "curl -u \\"bob:pw\\" x"}', '{"cmd": "curl -u \\"bob:[redacted:password]\\" x"}'),
        ('{"password": "hunter2"}', '{"password": "[redacted:password]"}'),
        ("DB_PASSWORD=Tr0ub4dor&3", "DB_PASSWORD=[redacted:password]&3"),
        ("passwd: 'p@ss w0rd' 'Zx9!kk'", "passwd: 'p@ss w0rd' 'Zx9!kk'"),
        ("passwd='Zx9!kk'", "passwd='[redacted:password]'"),
        (f"private_key = '{RANDOM}'", "private_key = '[redacted:password]'"),
        (f'"ssh_key": "ssh-rsa {RANDOM} me"', '"ssh_key": "[redacted:password]"'),
        ("GITHUB_TOKEN=0123456789abcdef", "GITHUB_TOKEN=[redacted:secret]"),
        ('export VAULT_TOKEN="s.a1b2c3d4"', 'export VAULT_TOKEN="[redacted:secret]"'),
        ("{'webhook_secret': 'a1b2c3d4e5'}", "{'webhook_secret': '[redacted:secret]'}"),
        ("PRIVATE-TOKEN: a1b2c3d4e5", "PRIVATE-TOKEN: [redacted:secret]"),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY-----\nb",
            "a\n[redacted:private_key]\nb",
        ),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\n" + "b3BlbnNzaC1rZXk" * 4 + "\ncut off",
            "[redacted:private_key]\ncut off",
        ),
    ],
)
def test_a_secret_becomes_a_marker(text, stored):
    assert redact(text) == stored
    assert redact(stored) == stored


@pytest.mark.parametrize(
    "text",
    [
        "pip install sk-learn scikit-learn",
        "sk-learn-contrib-2024-release-candidate",
        "task-1234567890abcdef1234567890",
        "desk-abcdefghijklmnopqrstu1234567",
        "hf_hub_download hf_transformersintegrations",
        "ghp_short",
        "AKIA is how they begin",
        "XAKIAIOSFODNN7EXAMPLE",
        "the bearer of bad news, a bearer internationalization",
        "Authorization: required",
        "Authorization: Bearer $TOKEN",
        "api_key=None, api_key=$API_KEY, api_key=<your key>, api_key={key}",
        "api_key=os.environ['KEY'], api_key=config.api_key, api_key=get_key()",
        "def connect(api_key: SecretStr, secret_key: str)",
        "monkey: 123456789, keyboard=abcdefghi",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "grep -r 'BEGIN PRIVATE KEY' /etc",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "input_tokens=123456789",
        "api_key=disabled api_key=example",
        "api_key: required-field",
        "if access_token == expected_token:",
        "secret-key=../../etc/passwd",
        "API_KEY=xxxxxxxx",
        "bearer certificates2018annual",
        "sk-learn-0123456789abcdef0",
        "sk-learn-randomforest2018benchmark",
        "sk-RandomForestClassifierBenchmark",
        "git commit sk-fix-1234567890123456-abc",
        "pplx-70b-online nvapi-internationalization-of-things",
        "r8_unorm_srgb",
        "https://hooks.slack.com/ is where webhooks live",
        "session_token_count: 123456789",
        "http://localhost:8080/a?mail=me@example.org",
        "git@github.com:owner/name.git ssh://git@github.com:22/x",
        "postgres://user:$PASSWORD@db postgres://user:<password>@db",
        "partition_key=created_at_2024",
        "eyJhbGciOiJIUzI1NiJ9 is how a token begins, foo.eyJ.bar",
        "pip install pypi-simple pypi-server-internationalization",
        "Cookie: theme=dark; lang=en",
        "cookie = get_cookie(name='sid')",
        "Set-Cookie: [redacted:cookie]",
        "docker run -u 1000:1000 image",
        "curl -s https://x; docker run -u 1000:1000 image",
        "ls -u user:hunter2",
        "curl -u $USER:$PASSWORD https://x",
        "curl -u bob:<password> https://x",
        'password: "must have at least 8 characters"',
        "password: str, password=None, password=getpass()",
        "password=os.environ['DB_PASSWORD1']",
        'if password == "correct":',
        "password: /run/secrets/db1",
        "private_key_path=/etc/ssl/key1.pem ssh_key: ~/.ssh/id_ed25519",
        "password_hash md5password password reset by bob2",
        "login(password=password2, csrf_token=self.token1, db_token=other_token2)",
        "EOS_TOKEN=50256 max_token: 100000",
        '"pad_token": "<|endoftext|>", "unk_token": "[UNK]"',
        "CLIENT_SECRET_NAME=my-secret MY_SECRET=placeholder",
        "authorization: internationalization",
        "input_token = tokens.next_token",
    ],
)
def test_a_look_alike_stays(text):
    assert redact(text) == text


@pytest.mark.parametrize(
    "value",
    [
        {"api_key": "abc123def456"},
        {"api_key": 123456789},
        {"api_key": 'with "quotes" \\ in it'},
        {"headers": {"Authorization": f"Bearer {RANDOM}"}},
        {"arguments": json.dumps({"api_key": "abc123", "cmd": "export API_KEY='abc123'\nls"})},
        {"cmd": f"export KEY=sk-{RANDOM}\necho done"},
        {"password": "hunter2", "n": 1},
        {"GITHUB_TOKEN": "a1b2c3d4e5", "cookie": "sid=a1b2c3d4"},
        {
            "arguments": json.dumps(
                {"cmd": "curl -u 'a:b2c' -H \"Cookie: sid=a1b2c3d4\"", "password": "hunter2"}
            )
        },
        {"file": "-----BEGIN PRIVATE KEY-----\nMIIEow==\n-----END PRIVATE KEY-----\n"},
    ],
)
def test_json_stays_json(value):
    for text in (json.dumps(value), json.dumps(json.dumps(value))):
        redacted = redact(text)
        assert "[redacted:" in redacted
        json.loads(redacted)


@given(
    st.text()
    | st.from_regex(
        r"(api_key|Authorization|bearer|sk-|password|_token|cookie|curl -u a:|eyJ[.]"
        r"|-----BEGIN PRIVATE KEY-----|[=: \"']|\w{6})*"
    )
)
def test_redacting_twice_changes_nothing_more(text):
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "api_key",
        "api_key=",
        "api_key='",
        "api_key=aaaaaa(",
        "api_key=" + "a" * 4000,
        "api_key=a.a.a.a",
        "\\",
        "sk-",
        "sk-a1",
        "bearer ",
        "bearer " + "a" * 40 + " ",
        "api_key=" + "aA" * 50 + " ",
        "api_key='a b\n",
        "api_key=\\'" + "a b" * 1000,
        "api_key=\"'",
        "://a:",
        "://",
        "://" + "a" * 100 + ":" + "@" * 10,
        "://u:" + "a" * 300,
        "hooks.slack.com/services/",
        "nvapi-",
        "sk-" + "a" * 15 + "-",
        "authorization:",
        "xoxb-",
        "eyJ",
        " eyJ",
        " eyJ" + "a" * 4000,
        " eyJ" + "a" * 100 + ".eyJ" + "a" * 1000,
        "pypi-",
        "cookie:",
        "cookie:a=",
        "cookie:a=a;",
        "password=",
        "password='a1 ",
        "_token=",
        "curl -u a",
        "curl -u a:",
        "-u a:b2 ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n" + "A" * 70,
        "-----END PRIVATE KEY-----",
        "-----BEGIN A A A A A ",
    ],
)
def test_ten_times_the_text_takes_about_ten_times_as_long(unit):
    def seconds(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size] + " key bearer authorization curl"
        start = time.process_time()
        redact(text)
        return time.process_time() - start

    small = min(seconds(100_000) for _ in range(3))
    # Quadratic time would be a hundred times as long.
    assert seconds(1_000_000) < 40 * max(small, 0.002)
