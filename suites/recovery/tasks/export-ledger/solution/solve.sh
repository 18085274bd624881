#!/bin/sh
# step: What is there, and how should it end?
ls journal; ./ledger sum

# step: I export the books. If the disk is full, everything in staging can go, and I export again.
./ledger export || { find staging -mindepth 1 -delete; exit 1; }

# step: Does the last balance agree?
tail -n 1 ledger.csv

# step: Now the sum of each account.
sed 1d ledger.csv | awk -F, '{ cents[$2] += $3 } END { for (account in cents) printf "%s,%d\n", account, cents[account] }' |
    LC_ALL=C sort | { echo account,cents; cat; } > closing.csv
cat closing.csv
