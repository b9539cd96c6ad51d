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

# Whether the user agrees to COMMAND. Nobody is asked if ORRERY_INSTALL is `yes`; without a terminal, the answer is no.
agreed_to() {
  local answer
  [[ ${ORRERY_INSTALL-} != yes ]] || return 0
  [[ -t 0 && -t 2 ]] || return 1
  read -rp "orrery: packages are missing. Install them now with '$1'? [Y/n] " answer
  [[ $answer == '' || $answer == [Yy]* ]]
}

# install_packages PURPOSE...: installs what packages.txt has for `run`, `test` or both, if the user agrees.
install_packages() {
  local manager groups packages as_root='' command
  manager=$(package_manager)
  if [[ -z $manager ]]; then
    say "no package manager that cmake/packages.txt has names for: nothing is installed, the build says what it lacks"
    return
  fi
  mapfile -t groups < <(missing_groups "$manager" "$@")
  ((${#groups[@]})) || return 0
  ((EUID == 0)) || as_root='sudo '
  if [[ $manager == apt && " ${groups[*]}" == */* ]]; then  # the choice among alternatives needs lists
    ls /var/lib/apt/lists/*Packages* &>/dev/null || [[ -n $as_root ]] || logged build/packages.log apt-get -q update
  fi
  mapfile -t packages < <(chosen_packages "$manager" "${groups[@]}")
  ((${#packages[@]})) || return 0
  command=$as_root$(install_command "$manager" "${packages[@]}")
  agreed_to "$command" || fail "packages are missing; install them, or let this command do it with ORRERY_INSTALL=yes: $command"
  [[ -z $as_root ]] || command -v sudo >/dev/null || fail "packages are missing, and there is no sudo; as root: ${command#sudo }"
  say "installing: ${packages[*]}"
  [[ $manager != apt ]] || logged build/packages.log ${as_root:+sudo} apt-get -q update
  # shellcheck disable=SC2086  # the words of the command
  logged build/packages.log ${as_root:+sudo} env DEBIAN_FRONTEND=noninteractive ${command#sudo }
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
