"""Is the shop's folder in the state that the guide tells?"""

import os
import stat
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from evalkit_grader import Grader, require

grader = Grader()
SHOP = grader.app / "shop"
TEXTS = {
    "bin/serve": "#!/bin/sh\necho serving\n",
    "bin/migrate": "#!/bin/sh\necho migrating\n",
    "keys/web.key": "not a real key: web\n",
    "keys/api.key": "not a real key: api\n",
    "keys/web.pub": "public\n",
}


def has(name, mode):
    path = SHOP / name
    require(path.exists() and not path.is_symlink(), f"{name} is missing or a link")
    found = stat.S_IMODE(path.lstat().st_mode)
    require(found == mode, f"{name} has the mode {found:o}, expected {mode:o}")
    if name in TEXTS:
        require(grader.deliverable(f"shop/{name}") == TEXTS[name], f"{name} holds something else")


def programs():
    has("bin/serve", 0o755)
    has("bin/migrate", 0o755)


def keys():
    has("keys/web.key", 0o600)
    has("keys/api.key", 0o600)
    has("keys/web.pub", 0o644)


def folders():
    has("keys", 0o700)
    for name in (".", "bin", "releases", "releases/1.9.0", "releases/1.10.0", "releases/2.0.0-rc1"):
        has(name, 0o755)


def current():
    link = SHOP / "current"
    require(link.is_symlink(), "current is no link")
    target = os.path.normpath(os.readlink(link))
    require(target == "releases/1.10.0", f"current leads to {target}")
    require((link / "VERSION").read_text() == "1.10.0\n", "the release is not what it was")


grader.checks({"programs": programs, "keys": keys, "folders": folders, "current": current})
grader.finish()
