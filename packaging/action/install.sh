#!/usr/bin/env bash
# Installs the wheel into an environment of its own, and puts the command into the PATH of the later steps.
set -euo pipefail

environment=$RUNNER_TEMP/cuecard-environment
python3 -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check "$CUECARD_PACKAGE"
mkdir -p "$RUNNER_TEMP/cuecard-bin"
ln -sf "$environment/bin/cuecard" "$RUNNER_TEMP/cuecard-bin/cuecard"
printf '%s\n' "$RUNNER_TEMP/cuecard-bin" >>"$GITHUB_PATH"
"$environment/bin/cuecard" --version
