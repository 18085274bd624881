#!/bin/sh
# step: What does a kWh cost?
./meters tariffs

# step: I write the bills.
printf '%s\n' "${OBSERVED-$(./meters tariffs)}" > tariffs.tmp
awk -F, '
    BEGIN { print "meter,price,cents" }
    FNR == 1 { next }
    NR == FNR { price[$1] = $2; next }
    { print $1 "," price[$2] "," price[$2] * $3 }' tariffs.tmp readings.csv > bills.csv
rm tariffs.tmp
