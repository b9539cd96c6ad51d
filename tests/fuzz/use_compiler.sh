#!/usr/bin/env bash
# Stands in front of a compiler's command line and runs another compiler with its arguments:
# use_compiler.sh <command>... -- <compiler> <argument>...
set -euo pipefail
command=()
while [[ $1 != -- ]]; do
  command+=("$1")
  shift
done
shift 2
exec "${command[@]}" "$@"
