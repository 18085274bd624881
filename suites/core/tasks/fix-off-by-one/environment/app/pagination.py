"""Paging of the article list. Pages and positions are counted from 1."""


def page_count(total, size):
    """How many pages `total` items take, with `size` items on each page.

    An empty list still has one page, which is empty. A size below 1 raises ValueError.
    """
    _check_size(size)
    return total // size + 1


def page_items(items, number, size):
    """The items on page `number`. A page that does not exist has no items."""
    _check_size(size)
    if number < 1:
        return []
    start = (number - 1) * size
    return items[start : start + size]


def page_range(number, size, total):
    """Positions of the first and the last item on a page, as in "showing 21 to 40 of 95".

    A page without items gives (0, 0).
    """
    _check_size(size)
    first = (number - 1) * size + 1
    last = min(number * size, total)
    if number < 1 or first >= total:
        return (0, 0)
    return (first, last)


def page_links(current, last, around=2):
    """The page numbers to link: the first, the last, and `around` pages on each side of the current one.

    Pages that are left out become one None. Leaving out a single page saves nothing, so that page is shown
    instead: page_links(5, 9, around=1) is [1, None, 4, 5, 6, None, 9], but page_links(4, 9, around=1) starts
    with 1, 2, 3.
    """
    shown = {1, last}
    for number in range(current - around, current + around):
        if 1 <= number <= last:
            shown.add(number)
    links = []
    previous = 0
    for number in sorted(shown):
        if number - previous > 1:
            links.append(None)
        links.append(number)
        previous = number
    return links


def _check_size(size):
    if size < 1:
        raise ValueError("size must be at least 1")
