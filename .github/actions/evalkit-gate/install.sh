#!/usr/bin/env bash
# Puts the evalkit that judges on PATH, in an environment of its own.
set -euo pipefail

if [[ "${GATE_VERSION:-}" == installed ]]; then
    if ! command -v evalkit > /dev/null; then
        echo "::error title=evalkit gate::version is 'installed', and there is no evalkit on PATH"
        exit 2
    fi
    exit 0
fi

if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "::error title=evalkit gate::python3 is not 3.11 or later; put one on PATH first, with actions/setup-python"
    exit 2
fi
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
venv="$RUNNER_TEMP/evalkit-gate"
python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -- "${GATE_VERSION:-$here/../../..}"
echo "$venv/bin" >> "$GITHUB_PATH"
