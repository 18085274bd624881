#!/bin/sh
# step: I look at the old configuration, the new names, and what is in service.
cat old.conf keys.csv

# step: Which revision is it before I change anything?
./deploy status

# step: I write the new configuration key by key.
{
    while IFS=, read -r old new; do
        value=$(sed -n "s/^$old = //p" old.conf)
        case $old,$value in
        *_ms,*) value=$(awk "BEGIN { print $value / 1000 }") ;;
        *,yes) value=true ;;
        *,no) value=false ;;
        esac
        echo "$new=$value"
    done
} < keys.csv | LC_ALL=C sort > service.conf && cat service.conf

# step: It looks right, so I put it into service.
./deploy apply service.conf

# step: What does the service say now?
./deploy status

# step: That goes into the release note.
printf '%s\n' "${OBSERVED-$(./deploy status)}" > release.txt
