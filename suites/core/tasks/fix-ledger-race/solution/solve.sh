#!/bin/bash
# step: I read the ledger, the storage below it, and the stress test.
cat ledger.py storage.py; sed -n '1,40p' stress.py

# step: Let me see it fail.
python3 -B stress.py

# step: I see five faults: balances are read before the lock is taken; exists() and touch() are two steps, so two processes get the lock; locks are taken in the order of the arguments, which deadlocks; a killed process leaves its lock; total takes none. The system's flock is released with its process. It must lie on a file of its own, because storage replaces the account files, and it must not be deleted. All locks of an operation are taken at once, each name once, in alphabetical order.
python3 - <<'PY'
import re
from pathlib import Path

path = Path("ledger.py")
text = path.read_text()
start, end = text.index("@contextlib.contextmanager"), text.index("def positive")
text = text[:start] + '''@contextlib.contextmanager
def locked(folder, *names):
    """Hold the locks of these accounts. One order for all processes, so that they cannot wait in a circle."""
    with contextlib.ExitStack() as held:
        for name in sorted(set(names)):
            # The lock is a file of its own, never deleted: storage replaces the account's file on each write.
            lock = held.enter_context(open(Path(folder) / f"{name}.lock", "a"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def balance(folder, name):
    try:
        return storage.read(folder, name)
    except FileNotFoundError:
        raise RefusedError(f"no account {name}") from None


def transfer(folder, source, target, cents):
    with locked(folder, source, target):
        before = balance(folder, source)
        reached = balance(folder, target)
        if before < cents:
            raise RefusedError(f"{source} has only {before}")
        if source != target:
            storage.write(folder, source, before - cents)
            storage.write(folder, target, reached + cents)


def deposit(folder, name, cents):
    with locked(folder, name):
        storage.write(folder, name, balance(folder, name) + cents)


def withdraw(folder, name, cents):
    with locked(folder, name):
        before = balance(folder, name)
        if before < cents:
            raise RefusedError(f"{name} has only {before}")
        storage.write(folder, name, before - cents)


def total(folder):
    names = storage.names(folder)
    with locked(folder, *names):
        print(sum(balance(folder, name) for name in names))


''' + text[end:]
text = text.replace("import contextlib\n", "import contextlib\nimport fcntl\n").replace("import time\n", "")
path.write_text(text)
PY
python3 -B stress.py

# step: Nothing is lost. The stress test does not cover the other demands: a transfer to itself, opposite transfers, a refused one, total during transfers, a killed process. I try them on a copy of the accounts.
cp -r accounts /tmp/bank
timeout 5 python3 -B ledger.py /tmp/bank transfer cash cash 5; echo "to itself: exit $?"
for n in 1 2 3 4 5 6; do python3 -B ledger.py /tmp/bank transfer cash travel $n & python3 -B ledger.py /tmp/bank transfer travel cash $n & python3 -B ledger.py /tmp/bank total & done; wait
python3 -B ledger.py /tmp/bank withdraw travel 99999999; echo "too much: exit $?"
python3 -B ledger.py /tmp/bank transfer cash nobody 5; echo "nobody: exit $?"; ls /tmp/bank

# step: A killed process, and whether independent transfers overlap: with a delay of 300 ms, one takes about 1.2 s, and two at once must not take 2.4 s.
mkdir /tmp/slow && cp ledger.py /tmp/slow && sed 's/^LATENCY_MS = .*/LATENCY_MS = 300/' storage.py > /tmp/slow/storage.py
echo '{"cents": 500}' > /tmp/bank/extra.json
timeout -s KILL 0.6 python3 -B /tmp/slow/ledger.py /tmp/bank transfer cash travel 5; echo "killed: exit $?"
timeout 5 python3 -B ledger.py /tmp/bank transfer travel cash 5; echo "after it: exit $?"
date +%s.%N; python3 -B /tmp/slow/ledger.py /tmp/bank transfer cash travel 5 & python3 -B /tmp/slow/ledger.py /tmp/bank transfer savings extra 5 & wait; date +%s.%N

# step: All as demanded. I remove what I made, and run the stress test three more times.
rm -rf /tmp/bank /tmp/slow; for n in 1 2 3; do python3 -B stress.py | tail -n 1; done; ls . accounts
