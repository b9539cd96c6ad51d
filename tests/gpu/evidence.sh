#!/usr/bin/env bash
# Everything this project claims of a GPU, measured and checked in one go on a machine that has one:
#   tests/gpu/evidence.sh BUILD_FOLDER OUT_FOLDER [tests|sanitizers|figures|window]...
# Writes logs, CSV files and pictures to OUT_FOLDER and exits 1 if any check failed. The parts need: `sanitizers`
# compute-sanitizer, `window` a display whose OpenGL is the GPU's. What is kept of the output lies in docs/measurements/.
set -uo pipefail
mkdir -p "$2"
build=$(realpath "$1") out=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
shift 2
parts=${*:-tests sanitizers figures window}
orrery=$build/bin/orrery
failed=0

# check NAME COMMAND...: runs it into OUT/NAME.log and counts a failure.
check() {
  local name=$1 begin=$SECONDS
  shift
  if "$@" >"$out/$name.log" 2>&1; then
    echo "ok    $name ($((SECONDS - begin)) s)"
  else
    echo "FAIL  $name (exit $?, $((SECONDS - begin)) s)"
    tail -n 15 "$out/$name.log"
    failed=1
  fi
}

run_tests() {
  local test
  for test in "$build"/tests/*_gpu "$build"/tests/gl_bodies_test; do
    check "$(basename "$test")" "$test"
  done
}

# Every CUDA kernel with every value of its tunables, at small odd counts.
run_sanitizers() {
  local tool
  for tool in memcheck racecheck initcheck synccheck; do
    check "sanitizer-$tool" compute-sanitizer --tool "$tool" --error-exitcode 9 \
      "$build/tests/agreement_test_gpu" --gtest_filter=-*4097*
  done
}

run_figures() {
  check info "$orrery" info --json
  check bench "$orrery" bench --scene plummer --kernels cuda-naive,cuda-tiled -n 4k,16k,64k,256k --repeat 30 \
    --csv "$out/bench.csv" --json "$out/bench.json"
  check bench-block "$orrery" bench --scene plummer --kernels cuda-naive,cuda-tiled -n 16k --repeat 15 \
    --set block=32,64,128,256,512,1024 --csv "$out/bench-block.csv"
  check bench-cpu "$orrery" bench --scene plummer --kernels cpu-serial,cpu-openmp,cpu-simd -n 16k --repeat 7 \
    --set threads=1,auto --csv "$out/bench-cpu.csv"
  check verify "$orrery" verify --csv "$out/verify.csv"
  cat "$out/bench.log" "$out/bench-cpu.log"
}

# The window as a user has it: asynchronous frames until it is told to close; then a scripted change of kernels.
run_window() {
  check interactive timeout --signal=TERM --preserve-status 12 \
    "$orrery" -n 16k --size 1280x720 --vsync off --record "$out/interactive.csv"
  cat >"$out/tour.txt" <<'SCRIPT'
300 kernel cuda-naive
600 set block 64
900 kernel cpu-simd
930 kernel cuda-tiled
960 set block 512
1200 set block 256
1500 screenshot tour.png
1510 quit
SCRIPT
  (cd "$out" && check tour "$orrery" -n 16k --size 1280x720 --vsync off --script tour.txt --record tour.csv)
  check picture "$orrery" -n 64k --size 1920x1080 --vsync off --frames 1200 --panel off --screenshot "$out/picture.png"
  python3 "$here/frames.py" "$out/interactive.csv" "$out/tour.csv" | tee "$out/frames.txt"
}

for part in $parts; do
  "run_$part"
done
exit $failed
