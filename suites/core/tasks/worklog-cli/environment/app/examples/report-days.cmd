python3 worklog.py report march.log --by day --from 2025-03-10 --to 2025-03-14
