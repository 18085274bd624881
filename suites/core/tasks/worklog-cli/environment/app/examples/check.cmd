python3 worklog.py check march.log; echo "exit code $?"
