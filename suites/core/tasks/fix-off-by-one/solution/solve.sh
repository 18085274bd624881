#!/bin/bash
# step: I look at what is there before touching anything: the module and the tests that describe it.
cat pagination.py test_pagination.py

# step: Now I want to see the failures instead of guessing them.
python3 -B -m unittest 2>&1

# step: page_count adds a page even when the pages are exactly full, so it needs a ceiling division with at least one page; and range() leaves out its end, so the page right of the current one is lost.
python3 - <<'PY'
from pathlib import Path
path = Path("pagination.py")
text = path.read_text()
text = text.replace("return total // size + 1", "return max(1, -(-total // size))")
text = text.replace("range(current - around, current + around)", "range(current - around, current + around + 1)")
path.write_text(text)
PY
python3 -B -m unittest 2>&1

# step: The tests pass, but the docstrings promise more than they test. I try the example of page_links, and a last page with a single item.
python3 -B -c '
from pagination import page_links, page_range
print(page_links(5, 9, around=1), page_links(4, 9, around=1))
print(page_range(2, 5, 6), page_range(3, 5, 6), page_range(1, 5, 1))'

# step: Two more: page_links(4, 9) hides page 2 although a single page must be shown, and page_range calls a page with one item empty because it compares with >= instead of >.
python3 - <<'PY'
from pathlib import Path
path = Path("pagination.py")
text = path.read_text()
text = text.replace("first >= total", "first > total")
text = text.replace(
    "        if number - previous > 1:\n            links.append(None)\n",
    "        if number - previous == 2:\n            links.append(number - 1)\n"
    "        elif number - previous > 2:\n            links.append(None)\n",
)
path.write_text(text)
PY

# step: A last check: the docstring's examples, the single item, and the whole test file again.
python3 -B -c '
from pagination import page_links, page_range
print(page_links(5, 9, around=1), page_links(4, 9, around=1), page_links(6, 9, around=1))
print(page_range(2, 5, 6), page_range(3, 5, 6), page_range(1, 5, 1))' && python3 -B -m unittest 2>&1
