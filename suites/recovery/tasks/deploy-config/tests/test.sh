#!/bin/sh
HERE=$(dirname "$0")
. "$HERE/verdict.sh"

check config same_part "$APP/service.conf" "$HERE/service.conf" cat
check deployed same_part "$APP/live/current.conf" "$HERE/service.conf" cat
check once same_part "$APP/live/revision" "$HERE/revision" cat
check release same_part "$APP/release.txt" "$HERE/release.txt" cat
verdict
