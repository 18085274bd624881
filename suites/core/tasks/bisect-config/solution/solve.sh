#!/bin/bash
# step: I confirm the failure first, and see what I have.
ls history | wc -l; cmp current.conf history/0048.conf && python3 -B gateway.py --selftest current.conf; cat current.conf

# step: The outage is the unbroken series of failures at the end. Bisecting from the first version may run into the old outage, so I look at a few versions from the end backwards to find a passing one.
for n in 0044 0040 0036 0032 0028 0024; do python3 -B gateway.py --selftest history/$n.conf > /dev/null 2>&1; echo "$n exit $?"; done

# step: It began between 0028, which passes, and 0032, which fails. Three versions are left to try.
for n in 0029 0030 0031; do python3 -B gateway.py --selftest history/$n.conf > /dev/null 2>&1; echo "$n exit $?"; done; diff history/0030.conf history/0031.conf

# step: 0031 is the first bad one, and it changed five settings. I undo each of them alone in a copy of the current file, to see which one makes the self-test pass.
while read -r name value; do
    sed "s/^$name = .*/$name = $value/" current.conf > /tmp/try.conf
    echo "$name = $value: $(python3 -B gateway.py --selftest /tmp/try.conf 2>&1)"
done <<'SETTINGS'
pause_ms 40
pause_growth 1.4
jitter 0.3
ttl_s 50
sample 0.1
SETTINGS
rm -f /tmp/try.conf

# step: It is upstream.pause_growth: the pauses grew so fast that five retries take longer than a request may. Somebody had even lowered it a little in 0040, which did not help. I set the value from 0030 and write the answer.
sed -i 's/^pause_growth = .*/pause_growth = 1.4/' current.conf
echo '{"version": "0031", "setting": "upstream.pause_growth"}' > answer.json

# step: Last, I check that the self-test passes, that one line differs, and that no version from 0031 on passes.
python3 -B gateway.py --selftest current.conf; diff history/0048.conf current.conf; cat answer.json
for n in $(seq -f %04g 31 48); do python3 -B gateway.py --selftest history/$n.conf > /dev/null 2>&1 && echo "$n passes"; done; true
