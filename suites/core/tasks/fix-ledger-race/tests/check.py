"""Is the ledger right when many processes use it at once, and does it stay fast?

Delays of the storage make every race wide enough to be met on each run, so no check depends on luck.
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from evalkit_grader import Child, Grader, Output, require

grader = Grader()
STORAGE = (Path(__file__).parent / "storage.py").read_text()


class Bank:
    """A folder with accounts, next to the agent's ledger and the original storage with a delay of our choice."""

    def __init__(self, latency_ms: int, **accounts: int) -> None:
        grader.deliverable("ledger.py")
        self.app = grader.workspace()
        (self.app / "storage.py").write_text(STORAGE.replace("LATENCY_MS = 20", f"LATENCY_MS = {latency_ms}"))
        (self.app / "bank").mkdir()
        for name, cents in accounts.items():
            (self.app / "bank" / f"{name}.json").write_text(json.dumps({"cents": cents}))

    def start(self, *words: object) -> Child:
        command = [sys.executable, "-E", "-s", "-B", "ledger.py", "bank", *map(str, words)]
        return grader.start(command, self.app)

    def run(self, *words: object, timeout: float = 20) -> Output:
        return grader.ended(self.start(*words), timeout)

    def balances(self) -> dict[str, int]:
        return {
            path.stem: json.loads(path.read_text())["cents"]
            for path in sorted((self.app / "bank").glob("*.json"))
        }

    def holds(self, **expected: int) -> None:
        require(self.balances() == expected, f"the balances are {self.balances()}, expected {expected}")


def ended(children: list[Child], timeout: float = 15) -> list[Output]:
    end = time.monotonic() + timeout
    return [grader.ended(child, max(0.1, end - time.monotonic())) for child in children]


def succeed(children: list[Child], timeout: float = 15) -> list[Output]:
    results = ended(children, timeout)
    for result in results:
        require(result.code is not None, f"a process did not end within {timeout} s")
        require(result.code == 0, f"a process ended with {result.code}: {result.err.strip()[-200:]}")
    return results


def no_lost_updates() -> None:
    expected = dict.fromkeys("abcd", 100_000)
    bank, children = Bank(15, **expected), []
    for at in range(28):
        source, target, cents = "abcd"[at % 4], "abcd"[(at + 1 + at // 4 % 3) % 4], 10 + at * at
        kind = ("transfer", "transfer", "deposit", "withdraw")[at * 5 % 7 % 4]
        expected[source] += cents if kind == "deposit" else -cents
        expected[target] += cents if kind == "transfer" else 0
        children.append(bank.start(kind, source, *([target] if kind == "transfer" else []), cents))
    succeed(children)
    bank.holds(**expected)


def no_deadlock() -> None:
    for first, second in ("ab", "ba"):
        bank = Bank(250, a=1000, b=1000)
        children = [bank.start("deposit", first, 10)]  # holds the first account while the next two queue up
        time.sleep(0.15)
        children.append(bank.start("transfer", first, second, 1))
        time.sleep(0.15)
        children.append(bank.start("transfer", second, first, 2))
        succeed(children, 12)
        bank.holds(**{first: 1011, second: 999})
    bank = Bank(30, a=1000, b=1000, c=1000)
    succeed([bank.start("transfer", *pair, 5) for pair in ("ab", "bc", "ca", "ba", "cb", "ac") * 2])
    succeed([bank.start("transfer", "a", "a", 100) for _ in range(3)], 8)
    bank.holds(a=1000, b=1000, c=1000)
    bank = Bank(5, a=1000)
    succeed([bank.start("transfer", "a", "a", 1000)], 8)
    bank.holds(a=1000)


def independent_transfers_in_parallel() -> None:
    pairs = [(f"from{at}", f"to{at}") for at in range(6)]
    bank = Bank(250, **{name: 500 for pair in pairs for name in pair})
    began = time.monotonic()
    succeed([bank.start("transfer", *pairs[0], 1)])
    alone = time.monotonic() - began
    require(alone > 0.45, "the ledger does not go through storage.py")
    began = time.monotonic()
    succeed([bank.start("transfer", *pair, 1) for pair in pairs])
    together = time.monotonic() - began
    require(together < 3 * alone, f"6 independent transfers took {together:.1f} s, one alone {alone:.1f} s")


def consistent_total() -> None:
    bank, children, totals = Bank(25, a=1000, b=1000, m=1000, z=1000), [], []
    for at in range(12):
        children.append(bank.start("transfer", *("az" if at % 4 else "zb"), 50))
        totals.append(bank.start("total"))
        time.sleep(0.04)
    seen = [result.out.strip() for result in succeed(totals)]
    succeed(children)
    require(seen == ["4000"] * 12, f"total is always 4000 here, but printed {sorted({*seen})}")


def killed_process_blocks_nobody() -> None:
    for words in (["transfer", "a", "b", 100], ["total"]):
        bank = Bank(200, a=1000, b=1000, c=1000)
        grader.ended(bank.start(*words), 0.4)  # is killed while it reads or writes
        before = bank.balances()
        result = bank.run("transfer", "b", "a", 7, timeout=5)
        require(
            result.code == 0,
            "after a process was killed, a transfer with its accounts does not end within 5 s",
        )
        bank.holds(**{**before, "a": before["a"] + 7, "b": before["b"] - 7})
        result = bank.run("total", timeout=6)
        require(result.out.strip() == str(sum(before.values())), f"total printed {result.out.strip()[:50]!r}")


def refusals() -> None:
    bank = Bank(20, a=100, b=0)
    results = ended([bank.start("withdraw", "a", 30) for _ in range(10)])
    codes = sorted(str(result.code) for result in results)
    require(codes == ["0"] * 3 + ["1"] * 7, f"10 withdrawals of 30 from 100 ended with {codes}")
    results = ended([bank.start("transfer", "a", "b", 4) for _ in range(6)])
    codes = sorted(str(result.code) for result in results)
    require(codes == ["0"] * 2 + ["1"] * 4, f"6 transfers of 4 from 10 ended with {codes}")
    bank.holds(a=2, b=8)
    refused = {
        ("transfer", "a", "b", 3): "refused: a has only 2",
        ("transfer", "a", "a", 3): "refused: a has only 2",
        ("withdraw", "b", 9): "refused: b has only 8",
        ("transfer", "a", "nobody", 1): "refused: no account nobody",
        ("transfer", "nobody", "a", 1): "refused: no account nobody",
        ("deposit", "nobody", 1): "refused: no account nobody",
    }
    for words, message in refused.items():
        result = bank.run(*words)
        shown = " ".join(map(str, words))
        require(
            result.code == 1 and result.err.strip() == message,
            f"{shown}: exit {result.code}, {result.err[-150:]!r}",
        )
    require(bank.run("deposit", "a", 0).code == 2, "a deposit of 0 is wrong usage, exit code 2")
    bank.holds(a=2, b=8)
    require(bank.run("total").out == "10\n", "total does not print 10")


grader.checks({
    "no-lost-updates": no_lost_updates,
    "no-deadlock": no_deadlock,
    "independent-transfers-in-parallel": independent_transfers_in_parallel,
    "consistent-total": consistent_total,
    "killed-process-blocks-nobody": killed_process_blocks_nobody,
    "refusals": refusals,
})  # fmt: skip
grader.finish()
