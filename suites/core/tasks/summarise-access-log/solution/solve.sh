#!/bin/bash
# step: First I look at the logs: how large they are, and what a usual line looks like.
wc -l logs/*; head -n 4 logs/access.log

# step: The lines that matter most are the odd ones. I list everything whose quoted request is not three words.
awk -F'"' 'split($2, word, " ") != 3' logs/* | sort | uniq -c | sort -rn | head -20; grep -h ',' logs/* | grep -o '"[A-Z]* [^ ?"]*,[^ "]*' | sort | uniq -c

# step: Splitting at the quotes gives the request as field 2, status and size as field 3, so referrers and user agents cannot disturb. awk counts, sort orders; the number goes to the front for sorting and is cut off again.
cat > summarise.sh <<'SH'
#!/bin/sh
# Prints requests, errors and bytes per path of the access logs that are given, as CSV.
echo "path,requests,errors,bytes"
awk -F'"' '
{
    if (split($2, word, / /) != 3 || word[1] == "" || word[2] == "" || word[3] == "") next
    if (split($3, answer, " ") != 2) next
    path = word[2]
    sub(/\?.*/, "", path)
    requests[path]++
    errors[path] += answer[1] >= 400
    bytes[path] += answer[2]
}
END {
    for (path in requests) printf "%d\t%s\t%d\t%d\n", requests[path], path, errors[path], bytes[path]
}' "$@" | LC_ALL=C sort -t "$(printf '\t')" -k1,1nr -k2,2 | awk -F'\t' '
{
    path = index($2, ",") ? "\"" $2 "\"" : $2
    printf "%s,%s,%s,%s\n", path, $1, $3, $4
}'
SH
sh summarise.sh logs/access.log logs/access.log.1 | head -8

# step: This looks right, but awk's %d may cut large sums: mawk stops at 2147483647. I try it before I trust it.
awk 'BEGIN { printf "%d %.0f\n", 6000000000, 6000000000 }'

# step: %.0f is safe with every awk, so I use it for the bytes, and write the summary.
sed -i 's/%d\\t%s\\t%d\\t%d/%d\\t%s\\t%d\\t%.0f/' summarise.sh
sh summarise.sh logs/access.log logs/access.log.1 > summary.csv; cat summary.csv

# step: As a check I count one path and all requests by another way, and run the script on an empty log.
grep -hcE '"[A-Z]+ /login(\?[^ ]*)? HTTP' logs/access.log logs/access.log.1; grep '^/login,' summary.csv
grep -hE '"[^" ]+ [^" ]+ [^" ]+" [0-9]+ ' logs/* | wc -l; awk -F, 'NR > 1 { n += $(NF - 2) } END { print n }' summary.csv; sh summarise.sh /dev/null
