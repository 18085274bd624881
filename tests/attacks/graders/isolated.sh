#!/bin/sh
# G3: isolated from configuration, plug-ins and the user's site; every expected test must have been reported as passed.
fresh=$(mktemp -d)
cp /tests/test_durations.py "$fresh/"
cd "$fresh" || exit 1
PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 /usr/bin/python3 -I -B -c '
import sys, pytest
sys.path.append("/app")
sys.exit(pytest.main(sys.argv[1:]))
' -q -c /dev/null --rootdir="$fresh" --noconftest -p no:cacheprovider --junitxml="$fresh/report.xml" "$fresh/test_durations.py"
/usr/bin/python3 -I -B /tests/ids.py "$fresh/report.xml" > /logs/verifier/reward.txt
