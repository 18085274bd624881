import unittest

from durations import parse, show


class Parse(unittest.TestCase):
    def test_parts_are_added_up(self):
        self.assertEqual(parse("1h30m"), 5400)

    def test_a_number_alone_is_seconds(self):
        self.assertEqual(parse("90"), 90)

    def test_spaces_stand_between_parts(self):
        self.assertEqual(parse("1d 12h"), 129600)

    def test_nothing_is_no_duration(self):
        with self.assertRaises(ValueError):
            parse("")


class Show(unittest.TestCase):
    def test_parts_that_are_zero_are_left_out(self):
        self.assertEqual(show(5400), "1h30m")

    def test_zero(self):
        self.assertEqual(show(0), "0s")

    def test_days(self):
        self.assertEqual(show(129600), "1d12h")


if __name__ == "__main__":
    unittest.main()
