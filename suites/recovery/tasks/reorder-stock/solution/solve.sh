#!/bin/sh
# step: I see what the client can do, and how many articles there are.
./stock count

# step: I list the articles.
./stock list

# step: I find the columns by their names, and write what has to be ordered.
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

# step: I look at the result.
cat reorder.csv
