"""Does a command or a program use the network, by the look of it?

One table. Loopback is no network: services of a task's own listen there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_URL = re.compile(
    r"(?:https?|wss?|ftps?|sftp|ssh|git|rsync|s3|gs|telnet|ldaps?|smtps?|imaps?)://(?:[^\s/@'\"]*@)?"
    r"(\[[^\]\s]{1,60}\]|[^\s/:'\"\\)?#]{1,255})",
    re.IGNORECASE,
)
_LOOPBACK = re.compile(
    r"(?:localhost(?:\.localdomain)?|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[?::1\]?)(?=[:/?#]|$)", re.IGNORECASE
)
_REMOTE_SHELL_PATH = re.compile(r"[\w.-]+@?[\w.-]*:(?!//)")
_NETWORK_MODULES = re.compile(
    r"\b(?:import|from|require\()\s*['\"]?(?:requests|httpx|aiohttp|urllib3?|urllib\.request|http\.client|socket|ftplib"
    r"|smtplib|paramiko|LWP|net/http|node-fetch|https?)\b"
)
_NETWORK_TOOL = re.compile(r"web|browser|fetch|http|download", re.IGNORECASE)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALWAYS = _names(
    "curl wget ssh scp sftp ftp lftp tftp telnet nc ncat netcat socat ping ping6 dig nslookup host traceroute tracepath"
    " whois aria2c axel http https xh httpie w3m lynx links elinks mosh rclone s3cmd aws gcloud az gh glab hub twine"
    " npx pipx uvx"
)
"""Programs that are there to use it."""
_ITS_USES: Mapping[str, frozenset[str]] = {
    "git": _names("push fetch clone pull ls-remote submodule send-email lfs svn"),
    "pip": _names("install download wheel index search"),
    "pip3": _names("install download wheel index search"),
    "uv": _names("add sync lock pip tool publish run"),
    "poetry": _names("add install update lock publish"),
    "conda": _names("install create update search"),
    "apt": _names("install update upgrade full-upgrade download source"),
    "apt-get": _names("install update upgrade dist-upgrade download source build-dep"),
    "apk": _names("add update upgrade fetch"),
    "yum": _names("install update upgrade makecache"),
    "dnf": _names("install update upgrade makecache"),
    "npm": _names("install i ci add update publish audit view exec login"),
    "yarn": _names("add install upgrade publish dlx"),
    "pnpm": _names("add install i update publish dlx"),
    "gem": _names("install update push fetch"),
    "bundle": _names("install update"),
    "cargo": _names("install add update fetch publish search login"),
    "go": _names("get install"),
    "openssl": _names("s_client s_time"),
    "composer": _names("install update require create-project"),
    "dotnet": _names("restore add publish"),
    "mix": _names("deps.get"),
    "cabal": _names("update install"),
    "pipenv": _names("install sync update lock"),
    "pdm": _names("install add update sync publish"),
    "brew": _names("install update upgrade"),
    "snap": _names("install refresh"),
    "zypper": _names("install in update refresh"),
    "terraform": _names("init apply plan"),
    "helm": _names("pull push install upgrade repo"),
    "docker": _names("pull push login build run search"),
    "podman": _names("pull push login build run search"),
    "svn": _names("checkout co update commit"),
}
_THEN_TOO: Mapping[tuple[str, str], frozenset[str]] = {
    ("git", "remote"): _names("update show prune"),
    ("go", "mod"): _names("download tidy"),
    ("yarn", "npm"): _names("publish audit info login"),
}
"""Uses that a second word tells."""
_WITHOUT_A_WORD = _names("yarn bundle")
"""Programs that install where they are told nothing."""
_UNLESS_OFFLINE = _names("mvn mvnw gradle gradlew sbt lein")
"""Programs that look for what they need at any goal."""
_OFFLINE = frozenset(("-o", "--offline"))
_DEVICE = re.compile(r"/dev/(?:tcp|udp)/([^/\s]+)")
_WORDS_ONLY = _names(
    "echo printf grep egrep fgrep rg sed awk cat less more head tail test [ [[ export set wc sort diff"
)
"""Programs that open no address that they are given."""
_GIT_TRANSFERS = _names("push fetch clone pull")


def uses_network(program: str, words: Sequence[str]) -> bool:
    """Whether a simple command does; `words` are all of its words, the program's first."""
    devices = [found[1] for word in words for found in _DEVICE.finditer(word)]
    if devices:
        return any(_LOOPBACK.match(host) is None for host in devices)
    if program in _WORDS_ONLY:
        return False
    addresses = [word for word in words[1:] if _URL.search(word) or _LOOPBACK.match(word)]
    if addresses:
        return any(_leaves(word) for word in addresses)
    named = [word for word in words[1:] if not word.startswith("-")]
    if program in _ALWAYS:
        return bool(named)
    if program == "rsync":
        return any(_REMOTE_SHELL_PATH.match(word) for word in named)
    return _asks_for_it(program, named, words)


def _asks_for_it(program: str, named: Sequence[str], words: Sequence[str]) -> bool:
    """Whether a program that only sometimes uses it does; `named` are its words without options."""
    if program.startswith("python") and list(words[1:3]) == ["-m", "pip"]:
        program, named = "pip", named[1:]
    if program == "git":
        named = _after_values(words[1:])
    if program in _UNLESS_OFFLINE:
        return bool(named) and _OFFLINE.isdisjoint(words)
    if program in _WITHOUT_A_WORD and len(words) == 1:
        return True
    if not named or "--no-index" in words:
        return False
    if len(named) > 1 and named[1] in _THEN_TOO.get((program, named[0]), ()):
        return True
    if named[0] not in _ITS_USES.get(program, ()):
        return False
    is_here = len(named) > 1 and named[1].startswith(("/", "./", "../"))
    return not (program == "git" and named[0] in _GIT_TRANSFERS and is_here)


def _after_values(words: Sequence[str]) -> Sequence[str]:
    """Git's words without its options and, of those before its command, without their values."""
    left = list(words)
    while left and left[0].startswith("-"):
        left = left[2:] if left[0] in {"-C", "-c"} else left[1:]
    return [word for word in left if not word.startswith("-")]


def text_uses_network(text: str) -> bool:
    """Whether a program's text does: it names an address elsewhere, or what opens some and none at all."""
    hosts = [found[1] for found in _URL.finditer(text)]
    if hosts:
        return any(_LOOPBACK.match(host) is None for host in hosts)
    return _NETWORK_MODULES.search(text) is not None and not re.search(r"localhost|127\.0\.0\.1", text)


def tool_uses_network(tool: str, texts: Sequence[str]) -> bool:
    """Whether a call of another tool does: its name says so, or an argument begins with an address elsewhere."""
    return _NETWORK_TOOL.search(tool) is not None or any(
        _URL.match(text) is not None and _leaves(text) for text in texts
    )


def _leaves(word: str) -> bool:
    """Whether an address is not this machine's own."""
    hosts = [found[1] for found in _URL.finditer(word)]
    return any(_LOOPBACK.match(host) is None for host in hosts)
