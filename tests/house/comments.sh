#!/usr/bin/env bash
# Comments name their subject first. These counts are of comments that begin with a fragment such as "Of a domain", in each
# folder: they may only shrink. Lower the number after rewriting some.
source "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

declare -A most=([app]=9 [compute]=87 [render]=0 [shaders]=3 [tests]=37)
fragment='^[[:space:]]*///? (Of|That|Those|Behind|So many|As if|Until|From|For) '
mapfile -d '' -t all < <(sources '*.h' '*.cuh' '*.inl' '*.cpp' '*.cu' '*.vert' '*.frag' '*.glsl')
failed=0
for folder in "${!most[@]}"; do
  files=()
  for file in "${all[@]}"; do
    [[ $file != "$folder"/* ]] || files+=("$file")
  done
  ((${#files[@]})) || { echo "no files found in $folder" && exit 1; }
  found=$(cat -- "${files[@]}" | grep -cE "$fragment" || true)
  if ((found > ${most[$folder]})); then
    grep -nHE "$fragment" -- "${files[@]}"
    echo "$folder has $found comments that begin with a fragment; ${most[$folder]} is the most. Name the subject first."
    failed=1
  fi
done
exit $failed
