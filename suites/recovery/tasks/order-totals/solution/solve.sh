#!/bin/sh
# step: How many pages are there?
./orders pages

# step: I fetch them one by one, each into a file of its own, so that a failure costs one page.
mkdir -p pages && ./orders page 1 > pages/1.csv

# step: The second page.
./orders page 2 > pages/2.csv

# step: The third.
./orders page 3 > pages/3.csv

# step: And the last.
./orders page 4 > pages/4.csv

# step: Now I add up.
cat pages/*.csv | awk -F, '
    { orders[$2]++; total[$2] += $3 }
    END { for (name in orders) print name "," orders[name] "," total[name] }' | LC_ALL=C sort > rows.tmp
{ echo customer,orders,total; cat rows.tmp; } > totals.csv && rm rows.tmp && cat totals.csv
