python3 worklog.py total broken.log 2>&1; echo "exit code $?"
