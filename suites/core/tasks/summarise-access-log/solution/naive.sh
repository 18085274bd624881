#!/bin/bash
# step: The path is the seventh word of a line, the status the ninth, the size the tenth.
cat > summarise.sh <<'SH'
echo "path,requests,errors,bytes"
awk '{ sub(/\?.*/, "", $7); n[$7]++; if ($9 >= 400) e[$7]++; b[$7] += $10 } END { for (p in n) print p "," n[p] "," e[p] + 0 "," b[p] }' "$@" | sort -t, -k2,2nr -k1,1
SH
sh summarise.sh logs/access.log logs/access.log.1 > summary.csv; head summary.csv
