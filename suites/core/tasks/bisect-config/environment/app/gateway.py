"""A gateway in front of a flaky upstream. --selftest plays a fixed load through it without any network."""

import argparse
import configparser
import heapq
import random
import sys

REQUESTS = 6000


def load(path):
    config = configparser.ConfigParser(inline_comment_prefixes=(";",))
    with open(path, encoding="utf-8") as file:
        config.read_file(file)
    return {
        "workers": config.getint("server", "workers"),
        "limit": config.getfloat("server", "request_limit_ms"),
        "connect": config.getfloat("upstream", "connect_ms"),
        "attempts": config.getint("upstream", "attempts"),
        "pause": config.getfloat("upstream", "pause_ms"),
        "growth": config.getfloat("upstream", "pause_growth"),
        "jitter": config.getfloat("upstream", "jitter"),
        "longest": config.getfloat("upstream", "pause_longest_ms"),
        "hit": min(0.9, config.getint("cache", "size_mb") / 256 * config.getint("cache", "ttl_s") / 60),
        "lookup": 2.0 if config.getboolean("cache", "shared") else 0.5,
    }


def serve(settings, dice):
    """How long one request keeps a worker, in milliseconds."""
    spent = settings["lookup"]
    if dice.random() < settings["hit"]:
        return spent
    pause = settings["pause"]
    for attempt in range(settings["attempts"]):
        spent += settings["connect"] + dice.expovariate(1 / 30)
        if dice.random() > 0.35:
            break
        if attempt + 1 < settings["attempts"]:
            spent += min(pause, settings["longest"]) * (1 + settings["jitter"] * (dice.random() - 0.5))
            pause *= settings["growth"]
    return spent


def selftest(settings):
    """The number of requests that took longer than allowed, waiting included."""
    dice = random.Random(2024)
    free = [0.0] * settings["workers"]
    now, late = 0.0, 0
    for _ in range(REQUESTS):
        now += dice.expovariate(1 / 25)
        start = max(now, heapq.heappop(free))
        end = start + serve(settings, random.Random(dice.random()))
        heapq.heappush(free, end)
        late += end - now > settings["limit"]
    return late


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--selftest", metavar="FILE", required=True)
    path = parser.parse_args().selftest
    try:
        settings = load(path)
    except (OSError, ValueError, configparser.Error) as error:
        print(f"{path}: cannot be read: {error}", file=sys.stderr)
        return 2
    late = selftest(settings)
    if late > REQUESTS / 100:
        print(f"selftest: FAILED, {late} of {REQUESTS} requests came too late", file=sys.stderr)
        return 1
    print(f"selftest: ok, {late} of {REQUESTS} requests came late")
    return 0


if __name__ == "__main__":
    sys.exit(main())
