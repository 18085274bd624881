#!/bin/sh
# step: I export the books.
./ledger export

# step: The sum of each account.
sed 1d ledger.csv | awk -F, '{ cents[$2] += $3 } END { for (account in cents) printf "%s,%d\n", account, cents[account] }' |
    LC_ALL=C sort | { echo account,cents; cat; } > closing.csv
