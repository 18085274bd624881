#!/bin/sh
# step: I read the log.
./logs show

# step: The first three words are time, level and service. I write the table.
printf '%s\n' "${OBSERVED-$(./logs show)}" | awk '
    BEGIN { print "time,level,service,message" }
    {
        time = substr($1, 12, 8); level = tolower($2); service = $3
        sub(/^[^ ]+ [^ ]+ [^ ]+ /, "")
        print time "," level "," service "," $0
    }' > log.csv

# step: I look at it, and count the rows.
cat log.csv; wc -l log.csv
