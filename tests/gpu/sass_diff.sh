#!/usr/bin/env bash
# Which functions' machine code differs between two builds of the program:
#   tests/gpu/sass_diff.sh BASE [NEW]
# Each of them is a program, an object file or a build folder, whose bin/orrery is taken; NEW is build/release without it.
# Compares the instructions as cuobjdump prints them, in order. Addresses, encodings (and with them stall counts) and the
# hashes in names of anonymous namespaces are left out. Needs cuobjdump of the CUDA toolkit, but no GPU.
# Exit status: 0 nothing differs, 1 something differs, 2 it could not compare.
set -euo pipefail
export LC_ALL=C

fail() {
  printf 'sass_diff.sh: %s\n' "$*" >&2
  exit 2
}

# tool NAME: the program of this name on PATH, or else in the CUDA toolkit's usual folder.
tool() { command -v "$1" || PATH=/usr/local/cuda/bin command -v "$1"; }

(($# == 1 || $# == 2)) || fail "takes two builds to compare: sass_diff.sh BASE [NEW]"
new_default=$(dirname "$(realpath "$0")")/../../build/release
programs=()
for build in "$1" "${2-$new_default}"; do
  program=$build
  [[ ! -d $build ]] || program=$build/bin/orrery
  [[ -f $program && -r $program ]] || fail "'$program' is no file that can be read"
  programs+=("$program")
done
cuobjdump=$(tool cuobjdump) || fail "needs cuobjdump of the CUDA toolkit, on PATH or in /usr/local/cuda/bin"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# dump PROGRAM FOLDER: a file FOLDER/N for every function, one instruction per line, and FOLDER.names: N, GPU and name.
# nvcc puts a hash of path and options into the name of an anonymous namespace; zeros keep its length, and so the name.
dump() {
  "$cuobjdump" -sass "$1" >"$work/sass" 2>"$work/errors" ||
    fail "cuobjdump cannot read '$1': $(head -n 1 "$work/errors")"
  mkdir "$2"
  sed -E -e 's/(_GLOBAL__N__|__nv_static_[0-9]+__)[0-9a-f]{8}/\100000000/g' -e 's/_cu_[0-9a-f]{8}/_cu_00000000/g' "$work/sass" |
    awk -v folder="$2" '
      /^[ \t]*arch = / { arch = $3 }
      /^[ \t]*Function : / {
        if (file != "") close(file)
        file = folder "/" ++functions
        name = arch " " $3
        if (seen[name]++) name = name "#" seen[name]  # two files of one name
        print functions, name >(folder ".names")
        printf "" >file
        next
      }
      file != "" && sub(/^[ \t]*\/\*[0-9a-f]+\*\/[ \t]+/, "") {
        sub(/[ \t]*;?[ \t]*\/\* 0x[0-9a-f]+ \*\/[ \t]*$/, "")
        print >file
      }'
  [[ -s $2.names ]] || fail "'$1' has no functions for a GPU"
}
dump "${programs[0]}" "$work/base"
dump "${programs[1]}" "$work/new"

# sums FOLDER: "GPU NAME<tab>CHECKSUM<tab>FILE" of every function, in the order of the names.
sums() {
  (cd "$1" && find . -type f -printf '%P\0' | xargs -0 md5sum) |
    awk -v names="$1.names" '
      BEGIN { while ((getline line <names) > 0) { file = line; sub(/ .*/, "", file); sub(/^[^ ]* /, "", line); name[file] = line } }
      { print name[$2] "\t" $1 "\t" $2 }' | sort -t $'\t' -k 1,1
}
sums "$work/base" >"$work/base.sums"
sums "$work/new" >"$work/new.sums"

# Demangles stdin. Where no demangler is there, names stay as they are.
demangled() {
  local filter
  filter=$(tool cu++filt || tool c++filt || echo cat)
  "$filter"
}

# changes FILE FILE: "-REMOVED +ADDED", the instructions in the first alone and in the second alone. Targets of branches
# move with every instruction added before them; they count only where nothing else differs.
changes() {
  local strip='/^(@!?U?P[0-9T]+ )?(BRA|BRX|BSSY|CALL|JMP|JMX|WARPSYNC)/s/0x[0-9a-f]+/target/' counts
  counts=$({ diff <(sed -E "$strip" "$1") <(sed -E "$strip" "$2") || true; } | count)
  [[ $counts != "-0 +0" ]] || counts=$({ diff "$1" "$2" || true; } | count)
  printf '%s\n' "$counts"
}
count() { awk '/^</ { ++removed } /^>/ { ++added } END { printf "-%d +%d\n", removed, added }'; }

# A name with "@FILE" where an anonymous namespace hides which file a function is of.
report() {
  local what=$1 name=$2 file=
  if [[ $name =~ _GLOBAL__N__00000000_[0-9]+_([A-Za-z0-9_]+)_cu_00000000 ]]; then file=" @${BASH_REMATCH[1]}.cu"; fi
  printf '%s  %s  %s%s\n' "$what" "${name%% *}" "${name#* }" "$file"
}

only_base=0 only_new=0 differ=0 same=0
while IFS=$'\t' read -r name base_sum base_file new_sum new_file; do
  if [[ $new_sum == - ]]; then
    report "only in BASE" "$name"
    only_base=$((only_base + 1))
  elif [[ $base_sum == - ]]; then
    report "only in NEW" "$name"
    only_new=$((only_new + 1))
  elif [[ $base_sum == "$new_sum" ]]; then
    same=$((same + 1))
  else
    report "differs $(changes "$work/base/$base_file" "$work/new/$new_file") of $(wc -l <"$work/base/$base_file") instructions" "$name"
    differ=$((differ + 1))
  fi
done < <(join -t $'\t' -a 1 -a 2 -e - -o 0,1.2,1.3,2.2,2.3 "$work/base.sums" "$work/new.sums") >"$work/report"
demangled <"$work/report"
printf '%d differ, %d only in BASE, %d only in NEW, %d the same\n' $differ $only_base $only_new $same
((differ + only_base + only_new == 0))
