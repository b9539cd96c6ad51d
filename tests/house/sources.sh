# Prints the project's text files that match the given patterns, each followed by a NUL: tracked ones and new ones that git
# does not ignore; without git, those of the source folders. Sourced by the checks beside it, which run in the top folder.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

sources() {
  local file
  if git rev-parse --is-inside-work-tree &>/dev/null; then
    git ls-files -z --cached --others --exclude-standard -- "$@"
  else
    for file in "$@"; do
      find . \( -name .git -o -name build -o -name 'build-*' -o -name orrery-out \) -prune -o -type f -name "$file" -printf '%P\0'
    done
  fi | while IFS= read -r -d '' file; do
    if [[ -f $file ]]; then printf '%s\0' "$file"; fi
  done
}
