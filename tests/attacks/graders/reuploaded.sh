#!/bin/sh
# G2: the same, after the tests were put there again.
cp /tests/test_durations.py /app/test_durations.py
cd /app || exit 1
python3 -m pytest -q test_durations.py && passed=1 || passed=0
echo "$passed" > /logs/verifier/reward.txt
