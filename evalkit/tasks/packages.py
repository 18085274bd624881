"""Which programs and Python modules does an installed package bring?

Only names that differ are listed; otherwise a package is taken to bring a program of its own name.
A package that brings nothing that can be called is kept as a package and not checked.
"""

from __future__ import annotations

import re

_APT_PROGRAMS: dict[str, tuple[str, ...]] = {
    "build-essential": ("gcc", "g++", "make"),
    "bsdmainutils": ("column",),
    "binutils": ("ld", "strings"),
    "coreutils": ("ls",),
    "cron": ("crontab",),
    "default-jdk": ("javac", "java"),
    "default-jre": ("java",),
    "diffutils": ("diff", "cmp"),
    "dnsutils": ("dig",),
    "e2fsprogs": ("mkfs.ext4",),
    "fd-find": ("fdfind",),
    "findutils": ("find", "xargs"),
    "gnupg": ("gpg",),
    "golang": ("go",),
    "golang-go": ("go",),
    "imagemagick": ("convert",),
    "iproute2": ("ip", "ss"),
    "iputils-ping": ("ping",),
    "mysql-client": ("mysql",),
    "ncurses-bin": ("tput",),
    "net-tools": ("netstat", "ifconfig"),
    "netcat": ("nc",),
    "netcat-openbsd": ("nc",),
    "netcat-traditional": ("nc",),
    "ninja-build": ("ninja",),
    "nodejs": ("node",),
    "openjdk-17-jdk": ("javac", "java"),
    "openjdk-17-jre": ("java",),
    "openssh-client": ("ssh",),
    "openssh-server": ("sshd",),
    "p7zip-full": ("7z",),
    "postgresql-client": ("psql",),
    "procps": ("ps", "pkill"),
    "psmisc": ("killall", "fuser"),
    "python-is-python3": ("python",),
    "python3-dev": ("python3",),
    "python3-minimal": ("python3",),
    "python3-pip": ("pip3",),
    "python3-setuptools": ("python3",),
    "python3-venv": ("python3",),
    "python3-wheel": ("python3",),
    "ripgrep": ("rg",),
    "ruby-full": ("ruby",),
    "silversearcher-ag": ("ag",),
    "sqlite": ("sqlite3",),
    "util-linux": ("setsid",),
    "uuid-runtime": ("uuidgen",),
    "vim-tiny": ("vi",),
    "xz-utils": ("xz",),
}
_APT_NOTHING = frozenset(
    {
        "apt-transport-https",
        "apt-utils",
        "bash-completion",
        "ca-certificates",
        "debian-archive-keyring",
        "locales",
        "man-db",
        "software-properties-common",
        "tzdata",
    }
)
_APT_LIBRARY = re.compile(r"(lib|fonts-|linux-headers)|.*(-dev|-doc|-data|-common|-dbg|-headers)$")

_PIP_PROGRAMS = {
    "black": "black",
    "httpie": "http",
    "isort": "isort",
    "mypy": "mypy",
    "pipenv": "pipenv",
    "pipx": "pipx",
    "poetry": "poetry",
    "pre-commit": "pre-commit",
    "pytest": "pytest",
    "ruff": "ruff",
    "tox": "tox",
    "uv": "uv",
    "uvicorn": "uvicorn",
}

_MODULES: dict[str, str] = {
    "attrs": "attr",
    "beautifulsoup4": "bs4",
    "bs4": "bs4",
    "dateutil": "dateutil",
    "gitpython": "git",
    "httpie": "httpie",
    "opencv-python": "cv2",
    "opencv-python-headless": "cv2",
    "pillow": "PIL",
    "pil": "PIL",
    "protobuf": "google.protobuf",
    "psycopg2-binary": "psycopg2",
    "pycryptodome": "Crypto",
    "pyjwt": "jwt",
    "pyserial": "serial",
    "python-dateutil": "dateutil",
    "python-dotenv": "dotenv",
    "pyyaml": "yaml",
    "scikit-image": "skimage",
    "scikit-learn": "sklearn",
    "setuptools-scm": "setuptools_scm",
}
_ONLY_PROGRAMS = frozenset({"ruff", "uv", "pre-commit", "poetry", "pipenv", "httpie"})


def apt_programs(package: str) -> tuple[str, ...]:
    """The programs that a Debian package brings, as far as they are worth checking; libraries bring none."""
    if package in _APT_PROGRAMS:
        return _APT_PROGRAMS[package]
    if package in _APT_NOTHING or _APT_LIBRARY.match(package) or package.startswith("python3-"):
        return ()
    return (package,)


def apt_modules(package: str) -> tuple[str, ...]:
    """The Python modules that a Debian package brings."""
    if package in _APT_PROGRAMS or not package.startswith("python3-"):
        return ()
    return (_module(package.removeprefix("python3-")),)


def pip_programs(package: str) -> tuple[str, ...]:
    """The programs that a Python package brings, besides the Python that it is installed into."""
    program = _PIP_PROGRAMS.get(_canonical(package))
    return ("python3", program) if program else ("python3",)


def pip_modules(package: str) -> tuple[str, ...]:
    """The Python modules that a Python package brings."""
    name = _canonical(package)
    return () if name in _ONLY_PROGRAMS else (_module(name),)


def _canonical(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def _module(name: str) -> str:
    return _MODULES.get(name, name.replace("-", "_"))
