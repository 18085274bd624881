#!/bin/sh
# step: I start the worker.
./queue start

# step: I put all files into the queue.
./queue add jobs/*.txt

# step: I let the queue run empty. A worker that has died leaves its jobs in the queue, so a new one can go on.
./queue drain || { ./queue start; exit 1; }

# step: What does the queue say?
./queue report

# step: That is the report. There must be as many rows as files.
printf '%s\n' "${OBSERVED-$(./queue report)}" > report.csv
ls jobs | wc -l; sed 1d report.csv | wc -l

# step: Nothing is left to do, so I stop the worker.
./queue stop
