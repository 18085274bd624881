#!/bin/sh
HERE=$(dirname "$0")
. "$HERE/verdict.sh"

same_table "$APP/readings.csv" "$HERE/expected.csv"
verdict
