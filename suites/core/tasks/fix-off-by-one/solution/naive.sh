#!/bin/bash
# step: I make the failing tests pass.
sed -i -e 's|return total // size + 1|return max(1, -(-total // size))|' -e 's|current + around):|current + around + 1):|' pagination.py
python3 -B -m unittest 2>&1
