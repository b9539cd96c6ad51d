#!/usr/bin/env bash
# The documents agree with the program: documents.sh <orrery>. Links lead somewhere, every option and subcommand that they
# write exists, and README.md has the number of kernels in the list of compute/CMakeLists.txt, and a table of these kernels.
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

help=$("$orrery" --help)
mapfile -t subcommands < <(sed -n '/^Subcommands:/,/^$/s/^  \([a-z][-a-z]*\).*/\1/p' <<<"$help")
((${#subcommands[@]})) || refuse "orrery --help lists no subcommands"
declare -A help_of
for subcommand in "${subcommands[@]}"; do
  help_of[$subcommand]=$("$orrery" "$subcommand" --help) || refuse "orrery $subcommand --help fails"
  help+=$'\n'${help_of[$subcommand]}
done
eval "$(sed -n '/^opens_no_window()/,/^}/p' run)"
for subcommand in "${subcommands[@]}" doctor help version; do
  [[ $subcommand == view ]] || opens_no_window "$orrery" "$subcommand" ||
    refuse "./run would add --offscreen to 'orrery $subcommand', which opens no window"
done
for word in '' view galaxy.bin plummer --scene; do
  ! opens_no_window "$orrery" ${word:+"$word"} || refuse "./run would open no window for 'orrery $word'"
done
for document in "${documents[@]}"; do
  [[ $document == README.md || $document == docs/usage* ]] || continue
  # Options of other programs stand in lines that name those.
  while IFS= read -r option; do
    grep -qE -- "(^|[^-[:alnum:]])$option([^-[:alnum:]]|$)" <<<"$help" || refuse "$document writes $option, which no --help shows"
  done < <(grep -vE 'cmake|ctest|apt-get|clang-format|mpirun|SBATCH|docker|Slurm' "$document" | grep -oE -- '(^|[^-[:alnum:]])--[a-z][-a-z]*' |
    grep -oE -- '--[a-z][-a-z]*' | sort -u)
  while read -r _ word _; do
    [[ " ${subcommands[*]} help version " == *" $word "* || $word == -* || $word == *.* ]] ||
      refuse "$document starts '$word', which is no subcommand, option or file"
  done < <(sed -n '/^```/,/^```/p' "$document" | grep -E '^(\./run|orrery) [^#]')
done

# The subcommands that a paragraph names are those that take its options: takers DOCUMENT PARAGRAPH OPTION...
takers() {
  local document=$1 paragraph=$2 named option subcommand having
  named=$(awk -v RS= -v start="$paragraph" 'index($0, start)' "$document" | { grep -oE '`[a-z][-a-z]*`' || true; } | tr -d '`' | sort)
  for option in "${@:3}"; do
    having=$(for subcommand in "${subcommands[@]}"; do
      if grep -qE -- "^  $option( |$)" <<<"${help_of[$subcommand]}"; then printf '%s\n' "$subcommand"; fi
    done | sort)
    [[ -n $named && $named == "$having" ]] ||
      refuse "$document: '$paragraph' names others than those that take $option:" $named ", not" $having
  done
}
takers docs/usage/command-line.md 'take these options:' --scene --seed --law --softening --repulsion
takers docs/usage/command-line.md 'also take these:' --drag --integrator
takers docs/usage/files.md 'options for a file:' --units --columns --state

# Rooms also hold helpers named cpu_*.cpp, so only the list says what is a kernel.
kernels_in_list=$(sed -n '/^orrery_descriptors(kernels/,/^)/p' compute/CMakeLists.txt |
  sed -nE 's#.*/([a-z0-9_]+)\.(cpp|cu)$#\1#p' | tr _ - | sort)
kernels_in_readme=$(grep -oE '^\| `(cpu|cuda)-[-a-z0-9]+`' README.md | tr -d '|` ' | sort)
[[ -n $kernels_in_list && $kernels_in_list == "$kernels_in_readme" ]] ||
  refuse "README.md's table of kernels differs from the list in compute/CMakeLists.txt:" \
    "$(diff <(printf '%s\n' "$kernels_in_list") <(printf '%s\n' "$kernels_in_readme"))"
number=$(wc -l <<<"$kernels_in_list")
grep -q "^[^|]*The $number kernels" README.md || refuse "README.md does not write 'The $number kernels', the number in the list"

exit $failed
