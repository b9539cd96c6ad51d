#!/usr/bin/env bash
# A build without CUDA includes no header of CUDA's, even if a system folder has one:
# without_cuda.sh <compiler> <the build's include folders, with semicolons between> <header>...
set -euo pipefail
compiler=$1
IFS=';' read -r -a folders <<<"$2"
shift 2
(($#)) || {
  echo "no headers to look for"
  exit 1
}

toolkit=$(mktemp -d)
trap 'rm -rf "$toolkit"' EXIT
failed=0
for header in "$@"; do
  mkdir -p "$toolkit/$(dirname "$header")"
  touch "$toolkit/$header"
  for include in "<$header>" "\"$header\""; do
    if "$compiler" -x c++ -fsyntax-only "${folders[@]/#/-I}" -isystem "$toolkit" - <<<"#include $include" 2>"$toolkit/errors"; then
      echo "#include $include finds a header in a build without CUDA"
      failed=1
    elif ! grep -q "build without CUDA" "$toolkit/errors"; then
      cat "$toolkit/errors"
      failed=1
    fi
  done
done
exit $failed
