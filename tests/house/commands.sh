#!/usr/bin/env bash
# The documents have the tables of commands, of colours and of keys that the program prints: commands.sh <orrery> [--fix]. With --fix,
# writes them.
orrery=$(realpath "$1")
fix=${2:-}
source "$(dirname "${BASH_SOURCE[0]}")/sources.sh"
failed=0

# check DOCUMENT NAME TOPIC: between "<!-- NAME" and "<!-- end of NAME", the document has what "orrery help TOPIC
# --markdown" prints.
check() {
  local document=$1 name=$2 topic=$3 wanted present
  wanted=$("$orrery" help "$topic" --markdown | sed '/^$/d') || true
  if [[ $wanted != '| '* ]]; then
    echo "orrery help $topic --markdown prints no table"
    failed=1
    return
  fi
  if [[ $fix == --fix ]]; then
    table=$wanted name=$name awk '
      $0 ~ "^<!-- " ENVIRON["name"] {print; print ENVIRON["table"]; skip = 1}
      $0 ~ "^<!-- end of " ENVIRON["name"] {skip = 0}
      !skip' "$document" >"$document.new" && mv "$document.new" "$document"
  fi
  present=$(sed -n "/^<!-- $name/,/^<!-- end of $name/ {/^|/p}" "$document")
  if [[ $wanted != "$present" ]]; then
    echo "$document differs from 'orrery help $topic --markdown'; tests/house/commands.sh $orrery --fix updates it:"
    diff <(printf '%s\n' "$present") <(printf '%s\n' "$wanted") || true
    failed=1
  fi
}

check docs/usage/scripts.md commands script
check docs/usage/colours.md colours colours
# Without the viewer, the program knows no keys.
[[ $("$orrery" help keys 2>&1) == *"viewer was not built"* ]] || check docs/usage/keys.md keys keys
exit $failed
