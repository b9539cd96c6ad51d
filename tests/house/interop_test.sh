#!/usr/bin/env bash
# tests/gpu/interop.py refuses recordings whose CUDA frames were not drawn as wanted: interop_test.sh <python>.
set -euo pipefail
interop=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../gpu/interop.py")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# recording FILE BACKEND:MODE...: as the viewer writes one, a frame for each.
recording() {
  local file=$1 frame
  printf '# {"program":"orrery"}\nframe,backend,interop\n' >"$file"
  for frame in "${@:2}"; do printf '0,%s,%s\n' "${frame%:*}" "${frame#*:}" >>"$file"; done
}
recording mapped cuda:mapped cpu:host cuda:mapped
recording once_staged cuda:mapped cuda:staged cuda:mapped
recording staged cuda:staged cuda:staged
recording cpu cpu:host cpu:host
recording empty
printf '# {}\nframe,backend\n0,cuda\n' >no_column

failed=0
# expect STATUS TEXT ARGUMENT...: the exit status, and what the output contains.
expect() {
  local status=0 output
  output=$("$python" -B "$interop" "${@:3}" 2>&1) || status=$?
  if ((status != $1)) || [[ $output != *"$2"* ]]; then
    printf 'interop.py %s: exit %d instead of %d, or no "%s" in:\n%s\n' "${*:3}" $status "$1" "$2" "$output"
    failed=1
  fi
}
python=$1
expect 0 'mapped: all mapped' mapped mapped
expect 0 'staged: all staged' staged staged
expect 1 '1 staged of 3 frames' mapped mapped once_staged
expect 1 '2 staged of 2 frames' mapped staged
expect 1 '2 mapped of 2 frames' staged mapped
expect 1 'no frame of a CUDA kernel' mapped cpu
expect 1 'no frame of a CUDA kernel' mapped empty
expect 1 "no column 'interop'" mapped no_column
expect 1 'No such file' mapped mapped missing
expect 2 'usage' host cpu
expect 2 'usage' mapped
exit $failed
