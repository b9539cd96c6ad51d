#!/usr/bin/env bash
# Everything this project claims of a GPU, measured and checked in one go on a machine that has one:
#   tests/gpu/evidence.sh BUILD_FOLDER OUT_FOLDER [tests|sanitizers|figures|literature|all-pairs|trees|window|laboratory]...
# Writes summary.txt, CSV files, pictures and the logs of what failed to OUT_FOLDER, with the other logs in passed.tar.gz,
# and exits 1 if any check failed; a test that is skipped has failed. The parts need: `sanitizers`
# compute-sanitizer, `window` a display whose OpenGL is the GPU's; `all-pairs` measures NVIDIA's nbody sample as well where
# ORRERY_NBODY_SAMPLE names its executable. What is kept of the output lies in docs/measurements/.
set -uo pipefail
mkdir -p "$2"
build=$(realpath "$1") out=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
shift 2
all_parts='tests sanitizers figures literature all-pairs trees window laboratory'
parts=${*:-$all_parts}
orrery=$build/bin/orrery
export XDG_CACHE_HOME=$out/cache  # the kernels that are chosen are measured anew, and the user's choices stay
failed=0

mkdir -p "$out/passed"
[ ! -f "$out/passed.tar.gz" ] || tar -xzf "$out/passed.tar.gz" -C "$out"

# log_of NAME: what the check of that name printed.
log_of() {
  if [ -f "$out/passed/$1.log" ]; then echo "$out/passed/$1.log"; else echo "$out/$1.log"; fi
}

# note ok|FAIL NAME TEXT: a line of the summary.
note() { printf '%-5s %s (%s)\n' "$1" "$2" "$3" | tee -a "$out/summary.txt"; }

# conclude NAME STATUS SECONDS [FACT]: files the log of a check that ended. One that passed goes to the archive of those.
conclude() {
  if [ "$2" -eq 0 ]; then
    note ok "$1" "$3 s${4:+; $4}"
    mv "$out/$1.log" "$out/passed/"
  else
    note FAIL "$1" "exit $2, $3 s${4:+; $4}"
    tail -n 15 "$out/$1.log"
    failed=1
  fi
}

# check NAME COMMAND...: runs it into OUT/NAME.log and counts a failure.
check() {
  local name=$1 begin=$SECONDS status=0
  shift
  "$@" >"$out/$name.log" 2>&1 || status=$?
  conclude "$name" "$status" $((SECONDS - begin))
}

# tested LOG: says how many GoogleTests passed in it, and fails where one was skipped, where none ran or where the end is
# missing: GoogleTest itself calls all but the last a success.
tested() {
  local passed
  passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\{0,1\}\.$/\1/p' "$1")
  if grep -q '^\[  SKIPPED \]' "$1"; then
    echo "tests were skipped"
    return 1
  elif [ "${passed:-0}" -eq 0 ]; then
    echo "no tests ran"
    return 1
  fi
  echo "$passed tests"
}

# check_tests NAME COMMAND...: as check, of a program of GoogleTests.
check_tests() {
  local name=$1 begin=$SECONDS status=0 fact
  shift
  "$@" >"$out/$name.log" 2>&1 || status=$?
  fact=$(tested "$out/$name.log") || status=$((status == 0 ? 1 : status))
  conclude "$name" "$status" $((SECONDS - begin)) "$fact"
}

run_tests() {
  local test
  for test in "$build"/tests/{*_gpu,ceilings_test,cuda_{launch,symmetric,trees}_test,fault_watch_test}; do
    check_tests "$(basename "$test")" "$test"
  done
  # It needs OpenGL of this GPU's; where there is no viewer, it was not built.
  test=$build/tests/gl_bodies_test
  [ ! -x "$test" ] || check_tests gl_bodies_test "$test"
}

most_shards=12

# sanitize TOOL NAME TEST [FILTER]: the tests under a tool of compute-sanitizer, in shards side by side.
sanitize() {
  local tool=$1 name=sanitizer-$1-$2 begin=$SECONDS status=0 fact shard jobs=() tests=0 filter=${4:-*}
  local shards
  shards=$("$3" --gtest_filter="$filter" --gtest_list_tests | grep -c '^  ')
  ((shards > 0)) || status=1
  ((shards <= most_shards)) || shards=$most_shards
  : >"$out/$name.log"
  for ((shard = 0; shard < shards; shard++)); do
    GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard compute-sanitizer --tool "$tool" --error-exitcode 9 \
      "$3" --gtest_filter="$filter" >"$out/$name-$shard.part" 2>&1 &
    jobs+=($!)
  done
  for ((shard = 0; shard < shards; shard++)); do
    wait "${jobs[shard]}" || status=$?
    fact=$(tested "$out/$name-$shard.part") || status=$((status == 0 ? 1 : status))
    [[ $fact != [0-9]* ]] || tests=$((tests + ${fact%% *}))
    grep -qE '^========= .*SUMMARY: 0 (errors|hazards)' "$out/$name-$shard.part" || status=$((status == 0 ? 1 : status))
    sed "s/^/$shard: /" "$out/$name-$shard.part" >>"$out/$name.log"
    grep '^========= .*SUMMARY' "$out/$name-$shard.part" | sed "s/^=* /$name $shard: /" >>"$out/sanitizers.txt"
    rm "$out/$name-$shard.part"
  done
  conclude "$name" "$status" $((SECONDS - begin)) "$tests tests in $shards shards"
}

# Every CUDA kernel with every value of its tunables, and the engine with its switches. racecheck is some ten times slower
# than the others: it gets few bodies.
run_sanitizers() {
  local tool filter
  rm -f "$out/sanitizers.txt"
  for tool in memcheck racecheck initcheck synccheck; do
    filter='*'
    [ $tool != racecheck ] || filter='*.Brief*'
    sanitize $tool kernels "$build/tests/agreement_test_gpu" "$filter"
    sanitize $tool engine "$build/tests/simulation_test_gpu"
    [ $tool != racecheck ] || filter='*PointsWithManyBodies*:*ReportsWhatItEvaluated*'
    sanitize $tool trees "$build/tests/cuda_trees_test" "$filter"
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
    sed -n '/one thread, gravity/,$p' "$(log_of cpu-benchmark)"
  fi
  cat "$(log_of bench)" "$(log_of bench-cpu)"
}

# Every CUDA variant, and the sources' own comparisons step by step: literature.md holds their figures beside ours.
run_literature() {
  check literature python3 "$here/literature.py" "$orrery" "$out"
  tar -czf "$out/literature-json.tar.gz" -C "$out" literature && rm -r "$out/literature"
}

# sample_times FILE: NVIDIA's sample, in its own words after each command; as many steps as take some 0.2 s and more.
sample_times() {
  local n steps
  : >"$1"
  while read -r n steps; do
    echo "\$ $(basename "$ORRERY_NBODY_SAMPLE") -benchmark -numbodies=$n -i=$steps" >>"$1"
    "$ORRERY_NBODY_SAMPLE" -benchmark "-numbodies=$n" "-i=$steps" </dev/null >>"$1" || return
  done <<<$'4096 2000\n16384 500\n65536 100\n131072 40\n262144 20'
}

# all_pairs PART MASSES SUBCOMMAND ARGUMENTS...: measures with unequal or equal masses for one table.
all_pairs() {
  local name=all-pairs-$1-$2 scene=collision
  [ "$2" != equal ] || scene=plummer
  check "$name" "$orrery" "$3" --scene $scene "${@:4}" --csv "$out/$name.csv" --json "$out/$name.json"
}

# The fastest kernels between two runs of NVIDIA's sample; then their errors, what `deterministic` costs, and every number
# of bodies per lane. Some 50 s.
run_all_pairs() {
  local kernels=cuda-tiled,cuda-symmetric masses
  ! "$orrery" kernels cuda-tensor &>/dev/null || kernels+=,cuda-tensor
  rm -f "$out"/all-pairs*
  [ -z "${ORRERY_NBODY_SAMPLE:-}" ] || check all-pairs-sample-before sample_times "$out/all-pairs-sample-before.txt"
  for masses in unequal equal; do
    all_pairs bench $masses bench --kernels $kernels -n 1k,2k,4k,8k,16k,32k,64k,128k,256k
  done
  [ -z "${ORRERY_NBODY_SAMPLE:-}" ] || check all-pairs-sample-after sample_times "$out/all-pairs-sample-after.txt"
  for masses in unequal equal; do
    all_pairs verify $masses verify --kernels $kernels -n 4k,16k,64k,256k --law gravity
    all_pairs deterministic $masses bench --kernels cuda-symmetric -n 16k,64k --set deterministic=off,on
    all_pairs lanes $masses bench --kernels cuda-symmetric -n 4k,16k,64k --set bodies-per-lane=all
  done
  check all-pairs-table python3 "$here/all_pairs_table.py" "$out"
  [ ! -f "$out/all-pairs.md" ] || cat "$out/all-pairs.md"
}

# trees SYSTEM KERNEL ARGUMENTS...: measures a tree for one table.
trees() {
  local name=trees-$1
  check "$name" "$orrery" bench --kernels "$2" "${@:3}" --csv "$out/$name.csv" --json "$out/$name.json"
}

# Both trees at settings whose errors are those of others' trees, on a smooth and on a clumpy system; the memory in use; and
# what becomes of the energy beside a direct sum's. Some 60 s.
run_trees() {
  local kernel n
  declare -A accuracy=([cuda-tree]='tolerance=1e-3,7e-5' [cuda-tree-lock]='theta=0.5,0.75')
  rm -f "$out"/trees*
  for kernel in cuda-tree cuda-tree-lock; do
    trees plummer-$kernel-s $kernel --scene plummer -n 64k,256k,1M,4M,10M --set "${accuracy[$kernel]}"
  done
  # A free-fall time is 1.11; the snapshots stay here.
  for n in 64k 256k 1M 4M; do
    check trees-collapse-$n "$orrery" --offscreen --scene cold-collapse -n $n --kernel cuda-tree --dt 0.002 --size 64x64 \
      --frames 2 --steps-per-frame 555 --save "$out/collapse-$n.tipsy"
    for kernel in cuda-tree cuda-tree-lock; do
      trees collapse-$kernel-s-$n $kernel "$out/collapse-$n.tipsy" --set "${accuracy[$kernel]}"
    done
    rm -f "$out/collapse-$n.tipsy"
  done
  for kernel in cuda-symmetric cuda-tree cuda-tree-lock; do
    printf '%s\n' "0 conserved 0.2" "1000 measure-conserved" >"$out/trees-drift.txt"
    check trees-drift-$kernel "$orrery" --offscreen --scene plummer -n 64k --kernel $kernel --size 64x64 --frames 1005 \
      --script "$out/trees-drift.txt" --record "$out/trees-drift-$kernel.csv"
    rm -f "$out/trees-drift-$kernel.csv"
  done
  # What else runs on the device counts as well.
  "$orrery" --offscreen --scene plummer -n 10M --kernel cuda-tree --size 64x64 --frames 100 >"$out/trees-memory.log" 2>&1 &
  while kill -0 $! 2>/dev/null; do
    nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits
    sleep 0.2
  done >"$out/trees-memory.txt"
  check trees-memory wait $!
  check trees-table python3 "$here/trees_table.py" "$out"
  [ ! -f "$out/trees.md" ] || cat "$out/trees.md"
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

# The laboratory's tabs with everything measured at once: their CPU time a frame (gui_ms), and a picture of each.
run_laboratory() {
  local tab recordings=()
  for tab in results speed-error sweep card conservation; do
    printf '%s\n' "0 lab $tab" "0 probe on" "0 conserved 0.2" "100 kernel cuda-naive" "200 kernel cuda-fp16" \
      "300 kernel cuda-tiled" "898 screenshot lab-$tab.png" "899 quit" >"$out/lab-$tab.txt"
    cd "$out" && check "lab-$tab" "$orrery" -n 16k --size 1280x720 --offscreen --panel on --script "lab-$tab.txt" \
      --record "lab-$tab.csv"
    recordings+=("$out/lab-$tab.csv")
  done
  python3 "$here/frames.py" "${recordings[@]}" | tee "$out/laboratory.txt"
}

for part in $parts; do
  case $part in
    tests) run_tests ;;
    sanitizers) run_sanitizers ;;
    figures) run_figures ;;
    literature) run_literature ;;
    all-pairs) run_all_pairs ;;
    trees) run_trees ;;
    window) run_window ;;
    laboratory) run_laboratory ;;
    *)
      echo "unknown part '$part'; the parts are: $all_parts" >&2
      exit 2
      ;;
  esac
done
# Few files: the logs of what passed in one.
tar -czf "$out/passed.tar.gz" -C "$out" passed && rm -r "$out/passed"
exit $failed
