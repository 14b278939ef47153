#!/usr/bin/env bash
# Every benchmark with its peers; the records go to bench/results/DATE-DEVICE-*.json, then the plot and the README's table are
# made from the newest. Called by ./run bench; --quick takes few repetitions, keeps nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
areal=build/release/apps/areal/areal
AREAL_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
export AREAL_COMMIT

if [[ ${1:-} == --quick ]]; then
  "$areal" bench sat --size 1920x1080 --repetitions 3
  "$areal" bench histogram --repetitions 3
  "$areal" bench region --size 2048x2048 --repetitions 3
  "$areal" bench window --repetitions 3
  exit
elif [[ $# -gt 0 ]]; then
  echo "run: bench: unknown option '$1'; it takes --quick" >&2
  exit 2
fi

name=$(date -u +%Y-%m-%d)-cpu-$(nproc)
results=bench/results
mkdir -p "$results"
"$areal" bench sat --json "$results/$name-sat.json"
"$areal" bench histogram --json "$results/$name-histogram.json"
"$areal" bench region --json "$results/$name-region.json"
"$areal" bench window --json "$results/$name-window.json"
"$areal" bench video data/vtest.avi --json "$results/$name-video.json"
python3 bench/pages/report.py
