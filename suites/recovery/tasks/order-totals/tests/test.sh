#!/bin/sh
HERE=$(dirname "$0")
. "$HERE/verdict.sh"

same_table "$APP/totals.csv" "$HERE/expected.csv"
verdict
