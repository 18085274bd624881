#!/bin/bash
# step: Blanks become dashes.
echo 'import sys; print(sys.argv[1].lower().replace(" ", "-"))' > slug.py
