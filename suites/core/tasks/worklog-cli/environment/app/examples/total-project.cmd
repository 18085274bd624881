python3 worklog.py total march.log --project support --from 2025-03-10
