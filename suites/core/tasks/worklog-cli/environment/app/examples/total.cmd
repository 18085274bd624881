python3 worklog.py total march.log
