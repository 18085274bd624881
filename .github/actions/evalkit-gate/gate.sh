#!/usr/bin/env bash
# Runs the gate, and says as outputs of the step how it ended. A later step ends with the gate's exit code, so that the
# comment is written whatever the verdict.
set -euo pipefail

refuse() {
    echo "::error title=evalkit gate::$1"
    exit 2
}

# A value of several lines cannot set another output.
output() {
    local mark
    mark="end-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
    printf '%s<<%s\n%s\n%s\n' "$1" "$mark" "$2" "$mark" >> "$GITHUB_OUTPUT"
}

# With `=` and after `--`, so that no value is taken for an option.
options=(--github)
[[ -n "${GATE_RUN:-}" ]] || refuse "the input 'run' is empty"
[[ -n "${GATE_OUT:-}" ]] || refuse "the input 'out' is empty"
[[ -z "${GATE_BASELINE:-}" ]] || options+=("--baseline=$GATE_BASELINE")
[[ -z "${GATE_POLICY:-}" ]] || options+=("--policy=$GATE_POLICY")
case "${GATE_STRICT:-}" in
    true) options+=(--strict) ;;
    false | "") ;;
    *) refuse "the input 'strict' is neither true nor false" ;;
esac
while IFS= read -r line; do
    [[ -z "${line//[[:space:]]/}" ]] || options+=("--map=$line")
done <<< "${GATE_MAP:-}"
key="$(printf '%s\n' "${GATE_COMMENT_KEY:-${GATE_BASELINE:-} ${GATE_POLICY:-}}" | sha256sum | cut -c 1-16)"

case "$GATE_OUT" in
    /*) out="$GATE_OUT" ;;
    *) out="$PWD/$GATE_OUT" ;;
esac
mkdir -p -- "$out"
rm -f -- "$out"/gate.{md,json,junit.xml,sarif} # a verdict of before is none of this run

said="$(mktemp)"
trap 'rm -f -- "$said"' EXIT
code=0
evalkit gate "${options[@]}" "--out=$out" "--comment-key=$key" -- "$GATE_RUN" 2> "$said" || code=$?

if [[ -s "$said" ]]; then # shown, and not obeyed
    token="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
    printf '::stop-commands::%s\n' "$token"
    cat -- "$said"
    printf '\n::%s::\n' "$token"
fi

case "$code" in
    3) outcome="regressed" ;;
    5) outcome="not comparable" ;;
    0 | 4) outcome="$(python3 -I -c 'import json, sys; print(json.load(open(sys.argv[1]))["outcome"])' "$out/gate.json")" ;;
    *) outcome="error" ;;
esac

if [[ ! -f "$out/gate.md" ]]; then # it ended before there was a verdict
    printf '<!-- evalkit-gate: %s -->\n## The gate has no verdict\n\n%s\n' "$key" \
        "It ended with exit code $code ($outcome); the log of the job says why." > "$out/gate.md"
    echo "::error title=evalkit gate::no verdict, exit code $code; the log says why"
    [[ -z "${GITHUB_STEP_SUMMARY:-}" ]] || cat -- "$out/gate.md" >> "$GITHUB_STEP_SUMMARY"
fi

output outcome "$outcome"
output exit-code "$code"
output markdown "$out/gate.md"
