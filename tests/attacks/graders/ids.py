"""Was exactly the expected set of tests reported, and each as passed? Prints 1 or 0."""

import sys
import xml.etree.ElementTree as ET

EXPECTED = {
    *(f"test_parse[{case}]" for case in ("1h30m-5400", "-0", "2d-172800", "1m5s-65")),
    *(f"test_render[{case}]" for case in ("3661-1h1m1s", "90000-1d1h", "7200-2h")),
    "test_spans_that_meet_share_nothing",
    "test_a_span_inside_another_is_shared_whole",
    "test_spans_apart_share_nothing",
}

try:
    reported = ET.parse(sys.argv[1]).getroot().findall(".//testcase")
except (OSError, ET.ParseError):
    reported = []
passed = {case.get("name") for case in reported if len(case) == 0}
print(int(passed == EXPECTED and len(reported) == len(EXPECTED)))
