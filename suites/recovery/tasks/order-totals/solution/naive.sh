#!/bin/sh
# step: I fetch the first page.
mkdir -p pages && ./orders page 1 > pages/1.csv

# step: The second page.
./orders page 2 > pages/2.csv

# step: The third.
./orders page 3 > pages/3.csv

# step: And the last.
./orders page 4 > pages/4.csv

# step: I add up what I have.
{
    echo customer,orders,total
    cat pages/*.csv | awk -F, '
        { orders[$2]++; total[$2] += $3 }
        END { for (name in orders) print name "," orders[name] "," total[name] }' | LC_ALL=C sort
} > totals.csv
