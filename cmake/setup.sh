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

missing_packages() {
  local package
  local -A installed=()
  # Names that dpkg does not know make it fail; those are simply not in its list.
  while read -r package; do installed[$package]=1; done < <(
    dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p')
  for package in "$@"; do
    [[ -n ${installed[$package]-} ]] || printf '%s\n' "$package"
  done
}

install_packages() {
  local packages missing as_root=()
  mapfile -t packages < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' cmake/debian-packages.txt)
  if ! command -v dpkg-query >/dev/null; then
    say "this is not Debian, so nothing is installed; needed are the equivalents of: ${packages[*]}"
    return
  fi
  mapfile -t missing < <(missing_packages "${packages[@]}")
  ((${#missing[@]})) || return 0

  local by_hand="apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "Debian packages are missing; as root, run: $by_hand"
    as_root=(sudo)
    [[ -t 0 ]] || as_root+=(-n)
    "${as_root[@]}" true 2>/dev/null || fail "Debian packages are missing and sudo refuses; as root, run: $by_hand"
  fi
  say "installing Debian packages: ${missing[*]}"
  logged build/apt.log "${as_root[@]}" apt-get -q update
  logged build/apt.log "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y install --no-install-recommends "${missing[@]}"
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
    logged build/configure.log cmake --preset "$preset" --fresh
    printf '%s\n' "$now" >"$folder/machine.txt"
  fi
  while read -r note; do say "$note"; done < <(sed -n 's/^ORRERY_[A-Z]*_NOTE:INTERNAL=\(.\)/\1/p' "$folder/CMakeCache.txt")

  # A terminal gets Ninja's one line of progress; elsewhere the first build is shown and later ones are quiet.
  local quiet=(--quiet)
  if [[ -t 2 || ! -f $folder/built.txt ]]; then quiet=(); fi
  ninja -C "$folder" "${quiet[@]}" "$@" >&2 || fail "the build in $folder failed"
  touch "$folder/built.txt"
}
