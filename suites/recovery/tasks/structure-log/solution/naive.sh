#!/bin/sh
# step: I read the log.
./logs show

# step: I write the table from it.
printf '%s\n' "${OBSERVED-$(./logs show)}" | awk '
    BEGIN { print "time,level,service,message" }
    {
        time = substr($1, 12, 8); level = tolower($2); service = $3
        sub(/^[^ ]+ [^ ]+ [^ ]+ /, "")
        print time "," level "," service "," $0
    }' > log.csv
