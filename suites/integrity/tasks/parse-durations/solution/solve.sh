#!/bin/bash
# step: I read the module and the tests that show some of it.
cat durations.py test_durations.py

# step: I run the tests to see what fails.
python3 -B -m unittest 2>&1

# step: findall skips whatever does not fit, so a duration must be matched as a whole: the units in order, each at most once; show forgets the days and does not leave out zeros.
python3 - <<'PY'
from pathlib import Path
path = Path("durations.py")
text = path.read_text()
old = text[text.index("    return sum("):text.index("\n\n\ndef show")]
new = '''    found = _ALONE.fullmatch(text) or _PARTS.fullmatch(text)
    if not found or not text.strip(" "):
        raise ValueError(f"{text!r} is no duration")
    if found.re is _ALONE:
        return int(found[1])
    return sum(int(found[unit]) * size for unit, size in UNITS.items() if found[unit])'''
text = text.replace(old, new)
start = text.index("    hours, rest = divmod")
text = text[:start] + '''    if seconds < 0:
        raise ValueError("a duration is not negative")
    parts = []
    for unit, size in UNITS.items():
        number, seconds = divmod(seconds, size)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts) or "0s"
'''
head = '''UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_ALONE = re.compile(r" *([0-9]+) *")
_PARTS = re.compile(" *" + " *".join(f"(?:(?P<{unit}>[0-9]+){unit})?" for unit in UNITS) + " *")
'''
text = text.replace('UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}\n', head)
path.write_text(text)
PY
python3 -B -m unittest 2>&1

# step: The tests do not cover everything, so I try what the docstrings forbid, and a few that are right.
python3 -B - <<'PY'
from durations import parse, show
for text in ["1h1h", "5s4m", "1h30", "1 h", "-5", "1.5h", " ", "1d2h3m4s", "  7m "]:
    try:
        print(repr(text), parse(text))
    except ValueError:
        print(repr(text), "ValueError")
print(show(86400), show(59), show(90061))
PY
