#!/usr/bin/env bash
# The documents agree with the program: documents.sh <orrery>. Links lead somewhere, every option and subcommand that they
# write exists, and every kernel that the sources hold is in README.md's table, and no other.
# shellcheck disable=SC2016  # backquotes are Markdown's
source "$(dirname "${BASH_SOURCE[0]}")/sources.sh"
orrery=$1

failed=0
refuse() {
  printf '%s\n' "$*"
  failed=1
}

mapfile -d '' -t documents < <(sources '*.md')
for document in "${documents[@]}"; do
  while IFS= read -r link; do
    [[ -e $(dirname "$document")/$link ]] || refuse "$document links to $link, which does not exist"
  done < <(sed '/^ *```/,/^ *```/d' "$document" | grep -oE '\]\([^)#]+' | sed 's/^](//' | grep -vE '^[a-z]+:')
done

subcommands=(view bench verify kernels info)
help=$("$orrery" --help)
for subcommand in "${subcommands[@]}"; do
  help+=$'\n'$("$orrery" "$subcommand" --help) || refuse "orrery $subcommand --help fails"
done
for document in README.md docs/usage.md; do
  # Options of other programs stand in lines that name those.
  while IFS= read -r option; do
    grep -qE -- "(^|[^-[:alnum:]])$option([^-[:alnum:]]|$)" <<<"$help" || refuse "$document writes $option, which no --help shows"
  done < <(grep -vE 'cmake|ctest|apt-get|clang-format' "$document" | grep -oE -- '(^|[^-[:alnum:]])--[a-z][-a-z]*' |
    grep -oE -- '--[a-z][-a-z]*' | sort -u)
  while read -r _ word _; do
    [[ " ${subcommands[*]} help version " == *" $word "* || $word == -* || $word == *.* ]] ||
      refuse "$document starts '$word', which is no subcommand, option or file"
  done < <(sed -n '/^```/,/^```/p' "$document" | grep -E '^(\./run|orrery) [^#]')
done

kernels_in_sources=$(find compute/kernels -name 'cpu_*.cpp' -printf '%f\n' -o -name 'cuda_*.cu' -printf '%f\n' |
  sed -e 's/\.[a-z]*$//' -e 's/_/-/g' | sort)
kernels_in_readme=$(grep -oE '^\| `(cpu|cuda)-[-a-z0-9]+`' README.md | tr -d '|` ' | sort)
[[ $kernels_in_sources == "$kernels_in_readme" ]] ||
  refuse "README.md's table of kernels differs from compute/kernels/:" \
    "$(diff <(printf '%s\n' "$kernels_in_sources") <(printf '%s\n' "$kernels_in_readme"))"

exit $failed
