#!/usr/bin/env bash
# tests/gpu/sass_diff.sh finds what differs between two programs, and nothing else. A cuobjdump that prints the program
# itself stands in front of the toolkit's, so that this runs without one.
set -euo pipefail
sass_diff=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../gpu/sass_diff.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

mkdir tools
# shellcheck disable=SC2016  # the tool's own argument
printf '#!/bin/sh\ngrep -q "Fatbin elf code" "$2" || { echo "no device code in $2" >&2; exit 1; }\ncat "$2"\n' >tools/cuobjdump
# shellcheck disable=SC2016  # sed's
printf '#!/bin/sh\nexec sed -E "s/_ZN[A-Za-z0-9_]*(pull|kick|sort)Ev/orrery::\\1()/"\n' >'tools/cu++filt'
chmod +x tools/*
export PATH=$work/tools:$PATH

# begin FILE; function_of FILE HASH NAME INSTRUCTION...: a program as cuobjdump prints one, with encodings that differ by
# the hash, as the hash in the name of the anonymous namespace does.
begin() { printf '\nFatbin elf code:\n================\narch = sm_90\nhost = linux\n\n\tcode for sm_90\n' >"$1"; }
function_of() {
  local hash=$2 name=$3 at=0 instruction
  printf '\t\tFunction : _ZN6orrery42_GLOBAL__N__%s_9_forces_cu_%s%sEv\n' "$hash" "$hash" "$name"
  printf '\t.headerflags\t@"EF_CUDA_SM90"\n'
  for instruction in "${@:4}"; do
    printf '        /*%04x*/  %s ;  /* 0x%s00000a00 */\n' $at "$instruction" "$hash"
    printf '                                 /* 0x%s000fe200 */\n' "$hash"
    at=$((at + 16))
  done
  printf '\t\t..........\n\n'
} >>"$1"

failed=0
# expect STATUS BASE NEW LINE...: the exit status and the output's lines.
expect() {
  local status=0 output wanted
  output=$("$sass_diff" "$2" "$3" 2>&1) || status=$?
  wanted=$(printf '%s\n' "${@:4}")
  if ((status != $1)) || [[ $output != "$wanted" ]]; then
    printf '%s against %s: exit %d instead of %d, and printed\n%s\ninstead of\n%s\n' "$2" "$3" $status "$1" "$output" "$wanted"
    failed=1
  fi
}

begin old
function_of old 11111111 4pull 'LDC R1, c[0x0][0x28]' 'FFMA R2, R1, R1, R3' '@P0 BRA 0x10' 'EXIT'
function_of old 11111111 4kick 'FADD R2, R2, R3' 'EXIT'
begin same
function_of same 2222abcd 4kick 'FADD R2, R2, R3' 'EXIT'
function_of same 2222abcd 4pull 'LDC R1, c[0x0][0x28]' 'FFMA R2, R1, R1, R3' '@P0 BRA 0x10' 'EXIT'
expect 0 old same '0 differ, 0 only in BASE, 0 only in NEW, 2 the same'

# One instruction becomes two; the target of the branch behind it moves, and does not count.
begin new
function_of new 33333333 4pull 'LDC R1, c[0x0][0x28]' 'FMUL R2, R1, R1' 'FADD R2, R2, R3' '@P0 BRA 0x20' 'EXIT'
function_of new 33333333 4sort 'EXIT'
expect 1 old new \
  'only in BASE  sm_90  orrery::kick() @forces.cu' \
  'differs -1 +2 of 4 instructions  sm_90  orrery::pull() @forces.cu' \
  'only in NEW  sm_90  orrery::sort() @forces.cu' \
  '1 differ, 1 only in BASE, 1 only in NEW, 0 the same'

# Nothing but the target: that counts.
begin target
function_of target 44444444 4pull 'LDC R1, c[0x0][0x28]' 'FFMA R2, R1, R1, R3' '@P0 BRA 0x0' 'EXIT'
function_of target 44444444 4kick 'FADD R2, R2, R3' 'EXIT'
mkdir -p build/bin
cp target build/bin/orrery
expect 1 old build \
  'differs -1 +1 of 4 instructions  sm_90  orrery::pull() @forces.cu' \
  '1 differ, 0 only in BASE, 0 only in NEW, 1 the same'

touch no_code
begin no_functions
expect 2 old no_code "sass_diff.sh: cuobjdump cannot read 'no_code': no device code in no_code"
expect 2 old no_functions "sass_diff.sh: 'no_functions' has no functions for a GPU"
expect 2 old missing "sass_diff.sh: 'missing' is no file that can be read"
exit $failed
