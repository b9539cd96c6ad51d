#!/usr/bin/env bash
# Comments name their subject first: none begins with a fragment such as "Of a domain".
source "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

fragment='^[[:space:]]*///? (Of|That|What|Those|Behind|So many|As if|Until|From|For) '
mapfile -d '' -t files < <(sources '*.h' '*.cuh' '*.inl' '*.cpp' '*.cu' '*.vert' '*.frag' '*.glsl')
((${#files[@]})) || { echo "no files found" && exit 1; }
if grep -nHE "$fragment" -- "${files[@]}"; then
  echo "These comments begin with a fragment. Name the subject first."
  exit 1
fi
