#!/bin/sh
# step: I start the worker and put all files into the queue.
./queue start

# step: All files go into the queue.
./queue add jobs/*.txt

# step: I let it run empty.
./queue drain

# step: What does the queue say?
./queue report

# step: That is the report.
printf '%s\n' "${OBSERVED-$(./queue report)}" > report.csv; ./queue stop
