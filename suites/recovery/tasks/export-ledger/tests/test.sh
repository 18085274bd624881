#!/bin/sh
HERE=$(dirname "$0")
. "$HERE/verdict.sh"

check ledger same_part "$APP/ledger.csv" "$HERE/ledger.csv" cat
same_table "$APP/closing.csv" "$HERE/closing.csv"
verdict
