# Shared by ./run and ./test, which source it from the top folder: installs what is missing, configures, builds.
# Everything it says goes to stderr, so that the program's own output can be piped.
# shellcheck shell=bash

say() { printf 'orrery: %s\n' "$*" >&2; }
fail() {
  say "$@"
  exit 1
}

# Runs a command with its output in a file; a failure shows the end of it.
logged() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    fail "failed: $* (all of its output: $log)"
  fi
}

# shellcheck source=cmake/packages.sh
source cmake/packages.sh

# Whether the user agrees to the command. ORRERY_INSTALL=yes agrees; without a terminal, nobody does.
agreed_to() {
  local answer
  [[ ${ORRERY_INSTALL-} != yes ]] || return 0
  [[ -t 0 && -t 2 && ${ORRERY_INSTALL-} != no ]] || return 1
  read -rp "orrery: packages are missing. Install them with '$1'? [Y/n] " answer || return 1
  [[ $answer == '' || $answer == [Yy]* ]]
}

# install_packages PURPOSE...: installs what packages.txt has for these purposes, if the user agrees. Without the packages
# that purpose `run` needs, apt's names being tried, nothing goes on; of others, the build says what it lacks.
install_packages() {
  local manager groups needed packages command shown as_root=()
  manager=$(package_manager)
  if [[ -z $manager ]]; then
    say "no package manager that cmake/packages.txt has names for: the build says what it lacks"
    return
  fi
  mapfile -t groups < <(missing_groups "$manager" "$@")
  ((${#groups[@]})) || return 0  # at once, as at nearly every start
  mapfile -t packages < <(chosen_packages "$manager" "${groups[@]}")
  ((${#packages[@]})) || return 0
  if ((EUID != 0)); then
    as_root=(sudo)
    [[ -t 0 ]] || as_root+=(-n)
  fi
  command=$(install_command "$manager" "${packages[@]}")
  shown="${as_root[*]}${as_root:+ }$command"
  if ! agreed_to "$shown"; then
    mapfile -t needed < <(missing_groups "$manager" run)
    say "packages are missing, which this command installs (ORRERY_INSTALL=yes lets it run by itself): $shown"
    [[ $manager != apt || ${#needed[@]} == 0 ]] || exit 1
    return 0
  fi
  "${as_root[@]}" true || fail "sudo refuses; as root, run: $command"
  if [[ $manager == apt ]]; then
    logged build/packages.log "${as_root[@]}" apt-get -q update
    mapfile -t packages < <(chosen_packages "$manager" "${groups[@]}")  # of alternatives, what the new lists offer
    ((${#packages[@]})) || return 0
    command=$(install_command "$manager" "${packages[@]}")
  fi
  say "installing: ${packages[*]}"
  # shellcheck disable=SC2086  # the words of the command
  logged build/packages.log "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive $command
}

# What decides how CMake configures beside the project's own files: the CUDA toolkit and the GPUs.
machine() {
  command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true
  sed -n 's/^Model: *//p' /proc/driver/nvidia/gpus/*/information 2>/dev/null || true
}

# build_preset <preset> [<target>...]: configures build/<preset> where it is new or the machine has changed, and builds.
build_preset() {
  local preset=$1 folder=build/$1 now note
  shift
  now=$(machine)
  if [[ ! -f $folder/build.ninja || ! -f $folder/machine.txt || $now != "$(<"$folder/machine.txt")" ]]; then
    say "configuring $folder"
    rm -f "$folder/machine.txt"
    rm -rf "$folder/CMakeCache.txt" "$folder/CMakeFiles"  # as --fresh, which CMake has from 3.24 on
    logged build/configure.log cmake --preset "$preset"
    printf '%s\n' "$now" >"$folder/machine.txt"
  fi
  while read -r note; do say "$note"; done < <(sed -n 's/^ORRERY_[A-Z]*_NOTE:INTERNAL=\(.\)/\1/p' "$folder/CMakeCache.txt")

  # A terminal gets Ninja's one line of progress; elsewhere the first build is shown and later ones are quiet.
  local quiet=(--quiet)
  if [[ -t 2 || ! -f $folder/built.txt ]]; then quiet=(); fi
  ninja -C "$folder" "${quiet[@]}" "$@" >&2 || fail "the build in $folder failed"
  touch "$folder/built.txt"
}
