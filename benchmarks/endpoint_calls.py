"""How much CPU does a model call cost the harness, through litellm and through Inspect's own provider?

The same conversation of N calls of `bash` (`true`) goes to the same server on loopback, in the same loop and sandbox;
only who asks the model differs. The harness's own CPU (this process, without children) is measured at two lengths in
fresh processes, and the slope is the cost of a call, so that start-up and imports do not count.

    python benchmarks/endpoint_calls.py [--json]
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SHORT, LONG, REPEATS = 20, 120, 3
MODELS = {"litellm": "openai-compatible/bench", "inspect": "inspect/openai-api/bench/bench"}
TASK = 'artifacts = ["/app/out"]\nschema_version = "1.4"\n[environment]\nnetwork_mode = "no-network"\n'


class Endpoint(BaseHTTPRequestHandler):
    """Answers every call with one tool call."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """One chat completion."""
        self.rfile.read(int(self.headers["content-length"]))
        call = {
            "id": "c",
            "type": "function",
            "function": {"name": "bash", "arguments": '{"command": "true"}'},
        }
        message = {"role": "assistant", "content": "Again.", "tool_calls": [call]}
        body = json.dumps(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 1,
                "model": "bench",
                "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def child(side: str, calls: int, url: str) -> None:
    """Run one side in this process and print the CPU seconds that it took itself."""
    from evalkit.cli.progress import live_progress
    from evalkit.engine.prepare import RunFlags, prepare
    from evalkit.engine.start import start

    task = Path("suite/loop")
    for folder in ("environment", "tests", "solution"):
        (task / folder).mkdir(parents=True)
    (task / "task.toml").write_text(TASK)
    (task / "instruction.md").write_text("Say true again and again.\n")
    (task / "environment" / "Dockerfile").write_text("FROM debian:bookworm-slim\nWORKDIR /app\n")
    (task / "tests" / "test.sh").write_text("#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n")
    (task / "solution" / "solve.sh").write_text("true\n")
    flags = RunFlags(
        suites=("suite",), models=(MODELS[side],), base_url=url, step_limit=calls, out=Path("run")
    )
    with live_progress(1) as progress:
        result = start(prepare(flags), progress)
    (trial,) = result.trials
    assert (trial.status, trial.model_calls) == ("passed", calls), trial
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps(used.ru_utime + used.ru_stime))


def measure(side: str, calls: int, url: str) -> float:
    """CPU seconds of one fresh process."""
    with tempfile.TemporaryDirectory() as home:
        environ = {
            **os.environ,
            "HOME": home,
            "XDG_DATA_HOME": home,
            "XDG_CACHE_HOME": home,
            "BENCH_API_KEY": "none",
        }
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), "--child", side, str(calls), url],
            cwd=home, env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return float(done.stdout.strip().splitlines()[-1])


def main() -> None:
    """Measure both sides in turn and print the slopes."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]), sys.argv[4])
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    slopes: dict[str, list[float]] = {side: [] for side in MODELS}
    for _ in range(REPEATS):
        for side in MODELS:
            spent = measure(side, LONG, url) - measure(side, SHORT, url)
            slopes[side].append(spent / (LONG - SHORT) * 1000)
    server.shutdown()
    medians = {side: statistics.median(values) for side, values in slopes.items()}
    if "--json" in sys.argv:
        print(json.dumps({"ms_per_call": medians, "all": slopes}))
        return
    print(f"harness CPU per call (this process, without children), medians of {REPEATS}")
    print(f"  asked through litellm               {medians['litellm']:6.2f} ms")
    print(f"  asked by Inspect's own provider     {medians['inspect']:6.2f} ms")
    print(f"  ratio                               {medians['litellm'] / medians['inspect']:6.2f}")


if __name__ == "__main__":
    main()
