python3 worklog.py report march.log
