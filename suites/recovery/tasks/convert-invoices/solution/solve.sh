#!/bin/sh
# step: Which currencies do I need?
cut -d, -f2 invoices.csv | sort | uniq -c

# step: I ask for the rates.
./rates today

# step: I look up the rate of each invoice and divide.
printf '%s\n' "${OBSERVED-$(./rates today)}" > rates.tmp
{
    echo id,currency,rate,eur
    while IFS=, read -r id currency amount; do
        rate=$(sed -n "s/.*\"$currency\": \([0-9.]*\).*/\1/p" rates.tmp)
        echo "$id,$currency,$rate,$(awk "BEGIN { printf \"%.2f\", $amount / ${rate:-1} }")"
    done < invoices.csv
} > converted.csv
rm rates.tmp

# step: I look at the result.
cat converted.csv
