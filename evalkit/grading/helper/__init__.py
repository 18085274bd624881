"""Which file makes a good grader short? `evalkit_grader.py`, which a task's tests/ carry a copy of."""
