#!/bin/sh
# G1: the exit code of pytest, run where the agent worked, on whatever tests lie there.
cd /app || exit 1
python3 -m pytest -q && passed=1 || passed=0
echo "$passed" > /logs/verifier/reward.txt
