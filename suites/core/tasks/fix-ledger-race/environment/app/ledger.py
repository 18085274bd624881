"""Moves money between accounts."""

import argparse
import contextlib
import sys
import time
from pathlib import Path

import storage


class RefusedError(Exception):
    pass


@contextlib.contextmanager
def locked(folder, name):
    lock = Path(folder) / f"{name}.lock"
    while lock.exists():
        time.sleep(0.005)
    lock.touch()
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def balance(folder, name):
    try:
        return storage.read(folder, name)
    except FileNotFoundError:
        raise RefusedError(f"no account {name}") from None


def transfer(folder, source, target, cents):
    before = balance(folder, source)
    if before < cents:
        raise RefusedError(f"{source} has only {before}")
    with locked(folder, source):
        reached = balance(folder, target)
        with locked(folder, target):
            storage.write(folder, source, before - cents)
            storage.write(folder, target, reached + cents)


def deposit(folder, name, cents):
    before = balance(folder, name)
    with locked(folder, name):
        storage.write(folder, name, before + cents)


def withdraw(folder, name, cents):
    before = balance(folder, name)
    if before < cents:
        raise RefusedError(f"{name} has only {before}")
    with locked(folder, name):
        storage.write(folder, name, before - cents)


def total(folder):
    print(sum(balance(folder, name) for name in storage.names(folder)))


def positive(text):
    if int(text) <= 0:
        raise ValueError(text)
    return int(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("transfer")
    command.add_argument("source", metavar="FROM")
    command.add_argument("target", metavar="TO")
    command.add_argument("cents", type=positive)
    for name in ("deposit", "withdraw"):
        command = commands.add_parser(name)
        command.add_argument("name", metavar="ACCOUNT")
        command.add_argument("cents", type=positive)
    commands.add_parser("total")
    options = vars(parser.parse_args())
    action = {"transfer": transfer, "deposit": deposit, "withdraw": withdraw, "total": total}[options.pop("command")]
    try:
        action(**options)
    except RefusedError as error:
        print(f"refused: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
