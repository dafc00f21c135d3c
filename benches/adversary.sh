#!/usr/bin/env bash
# Runs the adversary of replays at length: benches/adversary.sh [CASES] [SEED]. Needs what ./test installs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CUECARD_TEST_PEERS=$PWD/target/test-peers
export CUECARD_ADVERSARY_CASES=${1:-10000} CUECARD_ADVERSARY_SEED=${2:-1}
exec cargo test -p cuecard --test suite adversary -- --nocapture
