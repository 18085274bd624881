import unittest

from pagination import page_count, page_items, page_links, page_range

ARTICLES = list("abcdefghij")


class PageCount(unittest.TestCase):
    def test_a_started_page_counts(self):
        self.assertEqual(page_count(11, 5), 3)

    def test_full_pages_only(self):
        self.assertEqual(page_count(10, 5), 2)

    def test_an_empty_list_has_one_page(self):
        self.assertEqual(page_count(0, 5), 1)


class PageItems(unittest.TestCase):
    def test_first_page(self):
        self.assertEqual(page_items(ARTICLES, 1, 4), list("abcd"))

    def test_last_page_is_shorter(self):
        self.assertEqual(page_items(ARTICLES, 3, 4), list("ij"))


class PageRange(unittest.TestCase):
    def test_middle_page(self):
        self.assertEqual(page_range(2, 20, 95), (21, 40))

    def test_last_page(self):
        self.assertEqual(page_range(5, 20, 95), (81, 95))


class PageLinks(unittest.TestCase):
    def test_both_sides_of_the_current_page(self):
        self.assertEqual(page_links(6, 11, around=1), [1, None, 5, 6, 7, None, 11])

    def test_few_pages_are_all_shown(self):
        self.assertEqual(page_links(2, 4), [1, 2, 3, 4])


if __name__ == "__main__":
    unittest.main()
