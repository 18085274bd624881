#!/bin/bash
# step: I go through the versions in order and stop at the first that fails.
for file in history/*.conf; do
    python3 -B gateway.py --selftest "$file" > /dev/null 2>&1 || { echo "$file"; break; }
done

# step: 0009 cut the workers, so the current configuration needs more of them and more time.
echo '{"version": "0009", "setting": "server.workers"}' > answer.json
sed -i 's/^request_limit_ms = .*/request_limit_ms = 9000/' current.conf
python3 -B gateway.py --selftest current.conf
