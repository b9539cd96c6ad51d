#!/usr/bin/env bash
# Every source is as clang-format 14 writes it; with --fix, makes it so.
source "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

patterns=('*.h' '*.cuh' '*.inl' '*.cpp' '*.cu')
if [[ ${1-} == --fix ]]; then
  sources "${patterns[@]}" | xargs -0 clang-format-14 -i
elif ! sources "${patterns[@]}" | xargs -0 clang-format-14 --dry-run --Werror --ferror-limit=1; then
  echo "These files are not as clang-format 14 writes them. To fix: clang-format-14 -i FILE..., or tests/house/format.sh --fix"
  exit 1
fi
