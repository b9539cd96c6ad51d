#!/usr/bin/env bash
# Runs clang-tidy 14 with the checks of .clang-tidy over the .cpp files that differ from BASE: committed, changed and new ones.
#   tests/house/tidy.sh [BASE]
# BASE is a commit or branch; the default is origin/main, or main. The compile commands are those of the preset
# $ORRERY_PRESET, or else of the first preset that has been configured, dev before the others.
# Exit status: 0 no findings, 1 findings, 2 it could not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fail() {
  printf 'tidy.sh: %s\n' "$*" >&2
  exit 2
}

(($# <= 1)) || fail "takes one argument at most, the commit to compare with; $# were given"
case ${1-} in
  -h | --help)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
    exit
    ;;
  -*) fail "there is no option '$1'; usage: tests/house/tidy.sh [BASE]" ;;
esac

tidy=$(command -v clang-tidy-14) || fail "needs clang-tidy-14: apt-get install clang-tidy-14"
git rev-parse --is-inside-work-tree &>/dev/null || fail "$PWD is not a git checkout: it cannot say what has changed"

base=${1-}
if (($# == 0)); then
  for name in origin/main main; do
    if git rev-parse --verify --quiet "$name^{commit}" >/dev/null; then
      base=$name
      break
    fi
  done
  [[ -n $base ]] || fail "there is neither origin/main nor main: name the commit to compare with"
fi
git rev-parse --verify --quiet "$base^{commit}" >/dev/null || fail "'$base' is no commit or branch of this repository"
fork=$(git merge-base "$base" HEAD) || fail "'$base' and HEAD have no common ancestor"

presets=(single dev bare cpu asan tsan release)
[[ -z ${ORRERY_PRESET-} ]] || presets=("$ORRERY_PRESET")
build=
for preset in "${presets[@]}"; do
  if [[ -f build/$preset/compile_commands.json ]]; then
    build=build/$preset
    break
  fi
done
[[ -n $build ]] || fail "no compile commands in build/: cmake --preset ${presets[0]}"

mapfile -d '' -t changed < <(
  git diff -z --name-only --diff-filter=d "$fork" -- '*.cpp'
  git ls-files -z --others --exclude-standard -- '*.cpp'
)
files=()
for file in "${changed[@]}"; do
  if grep -qF "\"file\": \"$PWD/$file\"" "$build/compile_commands.json"; then
    files+=("$file")
  else
    printf 'tidy.sh: left out, since %s does not compile it: %s\n' "$build" "$file" >&2
  fi
done
if ((${#files[@]} == 0)); then
  printf 'tidy.sh: no .cpp file that %s compiles differs from %s\n' "$build" "$base" >&2
  exit
fi

# inspect FILE: prints the findings in a file; fails where there are some, or where clang-tidy itself failed.
# GCC compiles these files. clang 14 cannot make sense of a few (views of GCC's library, deduction for aggregates): it
# checks those in part, and what it says of the rest is no finding. But a header that was never generated is a mistake.
inspect() {
  local log status=0 findings
  # GCC's warning options mean nothing to clang.
  log=$("$tidy" -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option "$1" 2>&1) || status=1
  if grep -E "file not found \[clang-diagnostic-error" <<<"$log"; then
    printf 'tidy.sh: build %s first, its headers are missing\n' "$build" >&2
    return 1
  fi
  findings=$(awk '/: (error|warning): / { wanted = !/\[clang-diagnostic-error/ } wanted' <<<"$log")
  if [[ -n $findings ]]; then
    printf '%s\n' "$findings"
    return 1
  elif grep -qF '[clang-diagnostic-error' <<<"$log"; then
    printf 'tidy.sh: clang 14 cannot read all of %s: checked in part\n' "$1" >&2
  elif ((status)); then
    printf '%s\n' "$log"
    return 1
  fi
}
export -f inspect
export tidy build
# shellcheck disable=SC2016  # the inner shell's argument
if printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 1 bash -c 'inspect "$1"' bash; then
  printf 'tidy.sh: %d files, no findings\n' "${#files[@]}" >&2
else
  printf 'tidy.sh: the findings above are in files that differ from %s\n' "$base" >&2
  exit 1
fi
