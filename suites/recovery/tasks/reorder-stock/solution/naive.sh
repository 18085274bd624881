#!/bin/sh
# step: I list the articles.
./stock list

# step: I write what has to be ordered from what I was shown.
printf '%s\n' "${OBSERVED-$(./stock list)}" | awk -F, '
    NR == 1 {
        for (at = 1; at <= NF; at++) column[$at] = at
        print "sku,on_hand,order"
        next
    }
    {
        minimum = $column["minimum"]; on_hand = $column["on_hand"]
        print $column["sku"] "," on_hand "," (on_hand < minimum ? 2 * minimum - on_hand : 0)
    }' > reorder.csv
