#!/usr/bin/env bash
# Everything this project claims of a GPU, measured and checked in one go on a machine that has one:
#   tests/gpu/evidence.sh BUILD_FOLDER OUT_FOLDER [tests|sanitizers|figures|literature|window]...
# Writes logs, CSV files and pictures to OUT_FOLDER and exits 1 if any check failed. The parts need: `sanitizers`
# compute-sanitizer, `window` a display whose OpenGL is the GPU's. What is kept of the output lies in docs/measurements/.
set -uo pipefail
mkdir -p "$2"
build=$(realpath "$1") out=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
shift 2
parts=${*:-tests sanitizers figures literature window}
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
  for test in "$build"/tests/{*_gpu,ceilings_test,cuda_launch_test,gl_bodies_test}; do
    check "$(basename "$test")" "$test"
  done
}

# Every CUDA kernel with every value of its tunables, and the engine with its switches.
run_sanitizers() {
  local tool
  for tool in memcheck racecheck initcheck synccheck; do
    check "sanitizer-$tool" compute-sanitizer --tool "$tool" --error-exitcode 9 \
      "$build/tests/agreement_test_gpu"
    check "sanitizer-$tool-engine" compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/tests/simulation_test_gpu"
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
  check verify "$orrery" verify --histogram --digits --csv "$out/verify.csv" --json "$out/verify.json"
  if [ -x "$build/bin/orrery_cpu_benchmark" ]; then
    check cpu-benchmark "$build/bin/orrery_cpu_benchmark"
    sed -n '/one thread, gravity/,$p' "$out/cpu-benchmark.log"
  fi
  cat "$out/bench.log" "$out/bench-cpu.log"
}

# Every CUDA variant, and the sources' own comparisons step by step: literature.md holds their figures beside ours.
run_literature() {
  check literature python3 "$here/literature.py" "$orrery" "$out"
}

# The window as a user has it: asynchronous frames until it is told to close; a scripted change of kernels and blocks; and
# the same frames without a display, where no X server's copy of each picture counts.
run_window() {
  check interactive timeout --signal=TERM --preserve-status 10 \
    "$orrery" -n 16k --size 1280x720 --vsync off --record "$out/interactive.csv"
  check offscreen "$orrery" -n 16k --size 1280x720 --offscreen --panel on --frames 3000 --record "$out/offscreen.csv"
  cat >"$out/tour.txt" <<'SCRIPT'
100 kernel cuda-naive
200 set block 64
300 kernel cpu-simd
330 kernel cuda-tiled
360 set block 512
460 set block 256
620 screenshot tour.png
630 quit
SCRIPT
  cd "$out" && check tour "$orrery" -n 16k --size 1280x720 --vsync off --script tour.txt --record tour.csv
  # Mesa draws, CUDA computes: the copy through pinned memory that stands in where nothing can be mapped.
  check staged env __GLX_VENDOR_LIBRARY_NAME=mesa "$orrery" -n 16k --size 640x360 --frames 60 --record "$out/staged.csv"
  check picture "$orrery" -n 64k --size 1920x1080 --offscreen --frames 580 --screenshot "$out/picture.png"
  python3 "$here/frames.py" "$out"/{interactive,offscreen,tour,staged}.csv | tee "$out/frames.txt"
}

for part in $parts; do
  case $part in
    tests) run_tests ;;
    sanitizers) run_sanitizers ;;
    figures) run_figures ;;
    literature) run_literature ;;
    window) run_window ;;
    *)
      echo "unknown part '$part'; the parts are: tests sanitizers figures literature window" >&2
      exit 2
      ;;
  esac
done
exit $failed
