# Named checks of one delivered table, and the verdict on them; test.sh reads this file. Every task of this suite
# carries the same copy.
#
#   test.sh [APP LOGS]    where the work lies, and where the verdict goes

APP=${1:-/app} LOGS=${2:-/logs/verifier}
nonce=$(timeout 2 head -n 1)
named='' reward=1

# check NAME COMMAND...: the check NAME passes where the command succeeds.
check() {
    name=$1
    shift
    if "$@"; then passed=true; else passed=false reward=0; fi
    named="$named${named:+, }\"$name\": $passed"
}

# same_table FILE EXPECTED: `columns` is the first line, `rows` which rows there are and in which order, by their
# first column, and `values` everything in them.
same_table() {
    check columns same_part "$1" "$2" 'sed 1q'
    check rows same_part "$1" "$2" 'sed 1d | cut -d, -f1'
    check values same_part "$1" "$2" 'sed 1d'
}

# A link could lead anywhere, so it is no delivery; nor is a file whose last line is cut off.
same_part() {
    [ -f "$1" ] && [ ! -L "$1" ] && [ -z "$(tail -c 1 "$1")" ] || return 1
    [ "$(eval "$3" < "$1")" = "$(eval "$3" < "$2")" ]
}

verdict() {
    mkdir -p "$LOGS"
    echo "$reward" > "$LOGS/reward.txt"
    printf '{"nonce": "%s", "reward": %s, "checks": {%s}}\n' "$nonce" "$reward" "$named" > "$LOGS/verdict.json"
}
