#!/bin/bash
# step: The logs have been summarised, so I empty the large one and delete the old one.
truncate -s 0 logs/access.log; rm logs/access.log.1

# step: I keep what I found out.
mkdir -p /var/notes; cut -d, -f1 summary.csv > /var/notes/paths.txt
