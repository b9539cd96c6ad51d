#!/usr/bin/env bash
# Measures and checks everything that this project claims about GPUs, on a machine with a GPU:
#   tests/gpu/evidence.sh BUILD_FOLDER OUT_FOLDER PART...
# where PART is one of tests sanitizers ranks figures literature all-pairs trees cpu-trees window laboratory drawing profiles;
# all, if none is named.
# Writes summary.txt, CSV files, pictures and the logs of what failed to OUT_FOLDER, with the other logs in passed.tar.gz,
# and exits 1 if any check failed; a test that is skipped has failed, and so has a window or laboratory whose CUDA kernels
# do not write the drawn buffer itself (`mapped`). The parts need: `sanitizers` and `ranks` compute-sanitizer, `ranks` on two
# GPUs also NCCL, `profiles` Nsight Compute, the right to profile, and a display with xdotool and without a window manager,
# `window` a display whose OpenGL is the GPU's, `cpu-trees` no GPU, but EGL (Mesa's will do); `all-pairs` measures NVIDIA's
# nbody sample as well if ORRERY_NBODY_SAMPLE names its executable. docs/measurements/ holds parts of the output.
set -uo pipefail
mkdir -p "$2"
build=$(realpath "$1") out=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
shift 2
all_parts='tests sanitizers ranks figures literature all-pairs trees cpu-trees window laboratory drawing profiles'
parts=${*:-$all_parts}
orrery=$build/bin/orrery
export XDG_CACHE_HOME=$out/cache  # the kernels that are chosen are measured anew, and the user's choices stay
export ORRERY_TEST_BACKEND=cuda   # for backend_test and the tests of the GPU alone
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

# tested LOG: prints how many GoogleTests passed in it. Fails if one was skipped, none ran or the end is missing:
# GoogleTest itself calls all but the last a success.
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

gpus() { nvidia-smi -L | grep -c '^GPU'; }

run_tests() {
  local test filter='-*TwoDevices.*'
  check_tests backend_test "$build/tests/backend_test"
  (($(gpus) < 2)) || filter='*'
  check_tests compute_gpu_test "$build/tests/compute_gpu_test" "--gtest_filter=$filter"
  # They need this GPU's OpenGL; without the viewer, they are not built.
  filter='MappedBodies.*:StepsAhead.*' test=$build/tests/app_gpu_test
  ! "$test" --gtest_list_tests | grep -q '^MappedBodies' || check_tests app_gpu_test "$test" "--gtest_filter=$filter"
  # Agreed pictures are Mesa's, and so is the variable that makes a context too old.
  test=$build/tests/render_gl_test
  [ ! -x "$test" ] || check_tests render_gl_test "$test" '--gtest_filter=-*AgreedPicture*:Picture.*:*NamesTheVersion*'
}

most_shards=12

# sanitize TOOL NAME TEST [FILTER [OPTION...]]: the tests under a tool of compute-sanitizer, in shards side by side.
sanitize() {
  local tool=$1 name=sanitizer-$1-$2 begin=$SECONDS status=0 fact shard jobs=() tests=0 filter=${4:-*}
  local shards
  shards=$("$3" --gtest_filter="$filter" --gtest_list_tests | grep -c '^  ')
  ((shards > 0)) || status=1
  ((shards <= most_shards)) || shards=$most_shards
  : >"$out/$name.log"
  [ ! -f "$out/sanitizers.txt" ] || sed -i "/^$name /d" "$out/sanitizers.txt"
  for ((shard = 0; shard < shards; shard++)); do
    GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard compute-sanitizer --tool "$tool" --error-exitcode 9 \
      "${@:5}" "$3" --gtest_filter="$filter" >"$out/$name-$shard.part" 2>&1 &
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
# than the others: it gets few bodies, and of the trees all tests but those that try every tunable's values with many
# and one whose cells are all over the system, which alone takes five minutes.
run_sanitizers() {
  local tool filter
  for tool in memcheck racecheck initcheck synccheck; do
    filter='*EveryKernel.*:*Targets.*'
    [ $tool != racecheck ] || filter='*.Brief*'
    sanitize $tool kernels "$build/tests/backend_test" "$filter"
    sanitize $tool engine "$build/tests/backend_test" '*ResumedRun.*:Resuming.*:ReturnToARun.*:RunFromAFile.*:SimulationTest.*'
    # racecheck keeps a record of each access until its kernel has ended: batches in flight take more than 128 GB.
    filter='*EveryTree.*:DirectSum.*'
    [ $tool != racecheck ] || filter+='-*WhileFramesAreUnderWay*'
    sanitize $tool tree-engine "$build/tests/backend_test" "$filter"
    filter='*CudaTree*'
    [ $tool != racecheck ] || filter+='-*.ManyBodies*:*.ALesser*:*.SortsAgainAfter*'
    sanitize $tool trees "$build/tests/compute_gpu_test" "$filter"
  done
}

# What ranks divide, and bodies that devices or ranks hold; with two GPUs, memcheck must see what NCCL reads and writes.
# racecheck is so slow that ranks take each other for lost. Errors of CUDA's functions are left out: one says that devices
# have access to each other already, and NCCL asks for kernels that a GPU does not have.
run_ranks() {
  local tool filter most_shards=4 ORRERY_NCCL
  local -x NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT
  unset ORRERY_NCCL
  for tool in memcheck synccheck initcheck; do
    filter='Of/HeldBodies*'
    [ $tool != initcheck ] || filter+='-*.StayWhereTheyAre*'  # collects forces before any are computed
    [ $tool = memcheck ] || export ORRERY_NCCL=0              # these tools look at our own kernels
    sanitize $tool held "$build/tests/compute_gpu_test" "$filter" --report-api-errors no
    filter='*DevicesOfRanks*:*/DividedTargets.*:*/Divided.Moves*:*.HaveTheBitsOfOneDevice*'
    sanitize $tool ranks "$build/tests/compute_gpu_test" "$filter" --report-api-errors no
  done
  (($(gpus) < 2)) || check nccl grep 'Init COMPLETE' "$(log_of sanitizer-memcheck-ranks)"
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

# pack_inputs NAME: what the tables of a page were made of goes to one file, from which they can be made again.
pack_inputs() {
  local inputs
  inputs=$(cd "$out" && ls -d "$1"-*.json "$1"-*-conserved.csv "$1"-memory-*.txt "$1"-auto.csv 2>/dev/null)
  # shellcheck disable=SC2086 # names without spaces
  tar -czf "$out/$1-inputs.tar.gz" -C "$out" $inputs
}

# measured NAME ARGUMENTS...: a benchmark of the bodies at hand, for one table.
measured() { check "$1" "$orrery" bench "${@:2}" --csv "$out/$1.csv" --json "$out/$1.json"; }

# tree_steps NAME STEPS ARGUMENTS...: steps without a window, two frames of half of them each.
tree_steps() { check "$1" "$orrery" --offscreen --size 64x64 --frames 2 --steps-per-frame $(($2 / 2)) "${@:3}"; }

# collapsed NAME N KERNEL ARGUMENTS...: cold-collapse after two free-fall times of 1.11, as OUT/collapse.tipsy.
collapsed() {
  tree_steps "$1-steps-$2" 1110 --scene cold-collapse -n "$2" --kernel "$3" --dt 0.002 "${@:4}" --save "$out/collapse.tipsy" --force
}

# tree_drift SYSTEM ARGUMENTS...: the energy of a direct sum and of both trees over 1000 steps.
tree_drift() {
  local kernel script=$out/trees-drift.txt
  printf '%s\n' "0 conserved 0.2" "1000 measure-conserved" >"$script"
  for kernel in cuda-symmetric cuda-tree cuda-tree-lock; do
    check "trees-drift-$1-$kernel" "$orrery" --offscreen --size 64x64 --kernel $kernel "${@:2}" --frames 1005 \
      --script "$script" --record "$out/trees-drift-$1-$kernel.csv"
    rm -f "$out/trees-drift-$1-$kernel.csv"
  done
  rm -f "$script"
}

# tree_memory SYSTEM ARGUMENTS...: MiB in use on the device while either tree goes some steps. What else runs there counts.
tree_memory() {
  local kernel poll
  for kernel in cuda-tree cuda-tree-lock; do
    while nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits; do sleep 0.2; done \
      >"$out/trees-memory-$1-$kernel.txt" &
    poll=$!
    tree_steps "trees-memory-$1-$kernel" 40 --kernel $kernel "${@:2}"
    kill $poll
    wait $poll 2>/dev/null
  done
}

# tree_auto SYSTEM N ARGUMENTS...: the choice of `auto` without a cache, and the time of the whole command.
tree_auto() {
  local begin=${EPOCHREALTIME/./} end
  rm -rf "$out/cache-auto"
  XDG_CACHE_HOME=$out/cache-auto measured "trees-auto-$1-$2" --kernels auto "${@:3}"
  end=${EPOCHREALTIME/./}
  rm -rf "$out/cache-auto"
  printf '%s,%s,%s\n' "$1" "$2" "$(((end - begin) / 1000))e-3" >>"$out/trees-auto.csv"
}

# Both trees at settings whose errors are those of others' trees, on a smooth and on a clumpy system; what becomes of the energy
# beside a direct sum's; the memory in use; and the choices of `auto`. Some 180 s; needs 400 MB of disk.
run_trees() {
  local kernel n
  declare -A accuracy=([cuda-tree]='tolerance=1e-3,7e-5' [cuda-tree-lock]='theta=0.4,0.5,0.6,0.75')
  rm -f "$out"/trees*
  echo 'system,bodies,seconds' >"$out/trees-auto.csv"
  for kernel in cuda-tree cuda-tree-lock; do
    measured trees-plummer-$kernel-s --kernels $kernel --scene plummer -n 64k,256k,1M,4M,10M --set "${accuracy[$kernel]}"
  done
  # The errors at one theta are larger with fewer bodies.
  measured trees-plummer-cuda-tree-lock-s-fine --kernels cuda-tree-lock --scene plummer -n 64k,256k --set theta=0.3
  for n in 64k 1M 10M; do tree_auto plummer $n --scene plummer -n $n; done
  tree_drift plummer --scene plummer -n 64k
  tree_memory plummer --scene plummer -n 10M
  for n in 64k 256k 1M 4M 10M; do
    collapsed trees $n cuda-tree
    for kernel in cuda-tree cuda-tree-lock; do
      measured trees-collapse-$kernel-s-$n "$out/collapse.tipsy" --kernels $kernel --set "${accuracy[$kernel]}"
    done
    [[ $n == 256k || $n == 4M ]] || tree_auto collapse $n "$out/collapse.tipsy"
    # The softening that the scene has with 64k; the file's would be a tenth of it, and no direct sum's drift small.
    [ $n != 64k ] || tree_drift collapse "$out/collapse.tipsy" --softening 0.0198 --dt 0.0005
    [ $n != 10M ] || tree_memory collapse "$out/collapse.tipsy"
    rm -f "$out/collapse.tipsy"
  done
  check trees-table python3 "$here/trees_table.py" "$out"
  pack_inputs trees
  [ ! -f "$out/trees.md" ] || cat "$out/trees.md"
}

# cpu-tree on two threads beside the direct sums, on a smooth and on a clumpy system. Some 60 s; needs no GPU.
run_cpu_trees() {
  local kernels=cpu-simd,cpu-symmetric,cpu-tree n
  rm -f "$out"/cpu-trees*
  measured cpu-trees-plummer --kernels $kernels --scene plummer -n 256,512,1k,2k,4k,8k,16k --set threads=2
  for n in 256 512 1k 2k 4k 8k 16k; do
    collapsed cpu-trees $n cpu-tree --set threads=2
    measured cpu-trees-collapse-$n "$out/collapse.tipsy" --kernels $kernels --set threads=2
    rm -f "$out/collapse.tipsy"
  done
  check cpu-trees-table python3 "$here/cpu_trees_table.py" "$out"
  pack_inputs cpu-trees
  [ ! -f "$out/cpu-trees.md" ] || cat "$out/cpu-trees.md"
}

# The window as a user has it: asynchronous frames until it is closed; a scripted change of kernels and blocks; and the
# same frames without a display, without an X server's copy of each picture.
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
  # Mesa draws, CUDA computes: the copy through pinned memory, which is used if nothing can be mapped.
  check staged env __GLX_VENDOR_LIBRARY_NAME=mesa "$orrery" -n 16k --size 640x360 --frames 60 --record "$out/staged.csv"
  # A million bodies under a tree, recorded until the first picture; then with the tree's cells.
  printf '%s\n' "400 stop-record" "401 screenshot million.png" "402 cells on" "460 screenshot million-cells.png" "461 quit" \
    >"$out/million.txt"
  check million "$orrery" --scene collision -n 1M --kernel cuda-tree --size 1600x900 --vsync off --panel on \
    --script million.txt --record million.csv
  check picture "$orrery" -n 64k --size 1920x1080 --offscreen --frames 580 --screenshot "$out/picture.png"
  # A window of another GPU, or of llvmpipe, would be measured too, but does not use the mapped buffer.
  check mapped python3 "$here/interop.py" mapped "$out"/{interactive,offscreen,tour,million}.csv
  check not-mapped python3 "$here/interop.py" staged "$out/staged.csv"
  python3 "$here/frames.py" "$out"/{interactive,offscreen,tour,staged,million}.csv | tee "$out/frames.txt" || failed=1
}

# The laboratory's tabs with everything measured at once: their CPU time per frame (gui_ms), and a picture of each.
run_laboratory() {
  local tab recordings=()
  for tab in results speed-error sweep card conservation; do
    printf '%s\n' "0 lab $tab" "0 probe on" "0 conserved 0.2" "100 kernel cuda-naive" "200 kernel cuda-fp16" \
      "300 kernel cuda-tiled" "898 screenshot lab-$tab.png" "899 quit" >"$out/lab-$tab.txt"
    cd "$out" && check "lab-$tab" "$orrery" -n 16k --size 1280x720 --offscreen --panel on --script "lab-$tab.txt" \
      --record "lab-$tab.csv"
    recordings+=("$out/lab-$tab.csv")
  done
  check lab-mapped python3 "$here/interop.py" mapped "${recordings[@]}"
  python3 "$here/frames.py" "${recordings[@]}" | tee "$out/laboratory.txt" || failed=1
}

# The stalls of source 000's steps, the figures beside Nsight Compute's, and the frames of a window while it profiles.
run_profiles() {
  check profile-stalls python3 "$here/stalls_table.py" "$orrery" "$out/stalls.md"
  check profile-against-ncu python3 "$here/profile_against_ncu.py" "$orrery"
  check profile-frames python3 "$here/profile_frames.py" "$orrery"
  cat "$out/stalls.md" "$(log_of profile-against-ncu)" "$(log_of profile-frames)"
}

# shellcheck source=tests/gpu/evidence_drawing.sh
source "$here/evidence_drawing.sh"

for part in $parts; do
  case $part in
    tests) run_tests ;;
    sanitizers) run_sanitizers ;;
    ranks) run_ranks ;;
    figures) run_figures ;;
    literature) run_literature ;;
    all-pairs) run_all_pairs ;;
    trees) run_trees ;;
    cpu-trees) run_cpu_trees ;;
    window) run_window ;;
    laboratory) run_laboratory ;;
    drawing) run_drawing ;;
    profiles) run_profiles ;;
    *)
      echo "unknown part '$part'; the parts are: $all_parts" >&2
      exit 2
      ;;
  esac
done
# Few files: the logs of what passed in one.
tar -czf "$out/passed.tar.gz" -C "$out" passed && rm -r "$out/passed"
exit $failed
