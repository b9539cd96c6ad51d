#!/usr/bin/env bash
# What every file of the project must be: short, free of one machine's paths, and a script that parses where it is one.
source "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

failed=0
refuse() {
  printf '%s\n' "$*"
  failed=1
}

mapfile -d '' -t code < <(sources '*.h' '*.cuh' '*.inl' '*.cpp' '*.cu' '*.cmake' 'CMakeLists.txt' '*.sh' '*.vert' '*.frag' '*.glsl')
mapfile -d '' -t all < <(sources '*')
((${#code[@]} && ${#all[@]})) || refuse "no files found"

for file in "${code[@]}"; do
  lines=$(wc -l <"$file")
  ((lines <= 1200)) || refuse "$file has $lines lines: split it, 1200 is the most"
done

if grep -nIE '(^|[^[:alnum:]_.])/(work|root|home)/' -- "${all[@]}"; then
  refuse "the lines above name a path of somebody's machine"
fi

# Foreign text reaches a terminal through app/text/console.h alone, which makes it printable. The others print constants.
if grep -nE 'std::(cout|cerr|clog)|[^[:alnum:]_](f?printf|f?puts|perror)\(|fmt::print' -- "${code[@]}" |
  grep -E '^(app|compute|render)/' |
  grep -vE '^(compute/cuda/device.h|compute/sim/cuda_bodies.h|app/process/child_process.cpp):'; then
  refuse "the lines above print without app/text/console.h"
fi

# That compiles the header alone, as tests/house/CMakeLists.txt relies on.
for file in "${code[@]}"; do
  header=${file%.cpp}.h
  [[ $file == *.cpp && -f $header ]] || continue
  first=$(grep -m1 '^#include' "$file")
  [[ $first == "#include \"$header\"" ]] || refuse "$file includes something before its own header, $header"
done

# In a unity build, the file before may include it, and another build then fails.
algorithms='std::(min|max|minmax|clamp|fill_n|copy_n|sort|ranges::[a-z_]+)\('
mapfile -t users < <(grep -lE "$algorithms" -- "${code[@]}" | grep -E '\.(h|cuh|cpp|cu)$')
mapfile -t without < <(grep -LE '#include (<algorithm>|"tests/(test|app/support/(test|program))[.]h")' -- "${users[@]}")
for file in "${without[@]}"; do
  refuse "$file uses an algorithm without <algorithm>: $(grep -m1 -oE "$algorithms" "$file")"
done

scripts=()
for file in "${all[@]}"; do
  if IFS= read -r first <"$file" 2>/dev/null && [[ $first == '#!'*bash* || $file == *.sh ]]; then scripts+=("$file"); fi
done
for script in "${scripts[@]}"; do
  bash -n "$script" || refuse "$script does not parse"
  [[ $script == *.sh || -x $script ]] || refuse "$script is not executable"
done
if command -v shellcheck >/dev/null; then
  shellcheck --severity=warning --external-sources --source-path=SCRIPTDIR "${scripts[@]}" || refuse "shellcheck objects to the above"
fi
exit $failed
