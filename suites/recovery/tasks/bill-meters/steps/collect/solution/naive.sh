#!/bin/sh
# step: I read the meters into the file.
./meters read > readings.csv
