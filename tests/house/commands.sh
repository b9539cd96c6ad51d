#!/usr/bin/env bash
# docs/usage/scripts.md has the table of commands that the program prints: commands.sh <orrery> [--fix]. With --fix, writes it.
orrery=$(realpath "$1")
source "$(dirname "${BASH_SOURCE[0]}")/sources.sh"
document=docs/usage/scripts.md

wanted=$("$orrery" help script --markdown) && [[ $wanted == '| command'* ]] || {
  echo "orrery help script --markdown prints no table"
  exit 1
}
if [[ ${2:-} == --fix ]]; then
  table=$wanted awk '/^<!-- commands/ {print; print ENVIRON["table"]; skip = 1} /^<!-- end of commands/ {skip = 0} !skip' \
    "$document" >"$document.new" && mv "$document.new" "$document"
fi
present=$(sed -n '/^<!-- commands/,/^<!-- end of commands/p' "$document" | grep '^|')
[[ $wanted == "$present" ]] || {
  echo "$document differs from 'orrery help script --markdown'; tests/house/commands.sh $orrery --fix updates it:"
  diff <(printf '%s\n' "$present") <(printf '%s\n' "$wanted")
  exit 1
}
