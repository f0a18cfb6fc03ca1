#!/usr/bin/env bash
# Runs a command while four loops take the processors: what fails then fails on a slow machine.
#   tools/busy.sh COMMAND...
# The loops end with this script, however it ends, and after 90 minutes in any case.
set -euo pipefail

loops=()
trap 'kill "${loops[@]}" 2> /dev/null || true' EXIT
for _ in 1 2 3 4; do
  # shellcheck disable=SC2016  # the inner shell expands them
  bash -c 'while [ "$SECONDS" -lt 5400 ] && kill -0 "$1" 2> /dev/null; do :; done' busy "$$" &
  loops+=("$!")
done
"$@"
