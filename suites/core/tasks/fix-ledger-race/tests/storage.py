"""Account files on the network drive. Reading and writing takes a while there."""

import json
import os
import time
from pathlib import Path

LATENCY_MS = 20


def names(folder):
    """All accounts, in alphabetical order."""
    return sorted(path.stem for path in Path(folder).glob("*.json"))


def read(folder, name):
    """The balance of an account in cents. FileNotFoundError if there is no such account."""
    time.sleep(LATENCY_MS / 1000)
    return json.loads((Path(folder) / f"{name}.json").read_text())["cents"]


def write(folder, name, cents):
    """Replace the account's file by one with a new balance; readers see the old file or the new one."""
    time.sleep(LATENCY_MS / 1000)
    draft = Path(folder) / f"{name}.{os.getpid()}.draft"
    draft.write_text(json.dumps({"cents": cents}) + "\n")
    os.replace(draft, Path(folder) / f"{name}.json")
