#!/usr/bin/env bash
# Tries the two commands of README.md in a fresh minimal Debian 12, as somebody would who has just cloned the last commit.
# For use before a release: as root, for some 20 to 30 minutes on two cores. Nothing of it stays on the machine.
#   tests/house/bare.sh [--keep] [--jobs N] [RUN_OR_TEST]...
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
source packaging/system.sh

usage() {
  cat <<USAGE
usage: $(basename "$0") [--keep] [--jobs N] [run] [test]
Installs a minimal Debian 12 by debootstrap into a temporary folder, clones the last commit into it, and starts there
  run   ./run --frames 60   (without a display: a picture and timings)
  test  ./test               (every test)
Without a name it starts both. --jobs N builds with N threads. --keep leaves the folder for a look at it. Packages come from
where this machine's apt takes Debian's.
USAGE
}

fail() {
  printf 'bare.sh: %s\n' "$*" >&2
  exit 1
}

keep=0
jobs=$(nproc)
commands=()
while (($#)); do
  case $1 in
    -h | --help)
      usage
      exit
      ;;
    --keep) keep=1 ;;
    --jobs)
      [[ ${2-} =~ ^[1-9][0-9]{0,3}$ ]] && (($2 <= $(nproc))) || fail "--jobs takes a number of threads, from 1 to $(nproc)"
      jobs=$2
      shift
      ;;
    run | test) commands+=("$1") ;;
    *) fail "unknown argument '$1'; it takes --keep, --jobs N, run and test" ;;
  esac
  shift
done
((${#commands[@]})) || commands=(run test)

((EUID == 0)) || fail "needs root for debootstrap and chroot: sudo $0"
for tool in debootstrap git unshare; do
  command -v "$tool" >/dev/null || fail "needs $tool: apt-get install ${tool/unshare/util-linux}"
done
repository=$PWD
[[ -z $(git -C "$repository" status --porcelain) ]] || printf 'bare.sh: note: tries the last commit, without what has changed since\n' >&2

root=$(mktemp -d "${TMPDIR:-/tmp}/orrery-bare-XXXXXX")
remove() {
  if ((keep)); then
    printf 'bare.sh: the system is kept in %s\n' "$root" >&2
  else
    rm -rf --one-file-system "$root"
  fi
}
trap remove EXIT
trap 'exit 130' INT TERM HUP

say() { printf '\nbare.sh: %s\n' "$*"; }

say "installing a minimal Debian 12"
new_system bookworm "$root"
git clone --quiet "$repository" "$root/orrery"
say "$(chroot "$root" dpkg-query -W | wc -l) packages; the CUDA toolkit is none of them"

# Ninja starts as many jobs as there are processors.
inside() {
  in_system "$root" env ORRERY_INSTALL=yes taskset -c "0-$((jobs - 1))" bash -c "cd /orrery && $1"
}

for name in "${commands[@]}"; do
  started=$SECONDS
  case $name in
    run) command="./run --frames 60" ;;
    test) command="./test" ;;
  esac
  say "$command"
  inside "$command" || fail "'$command' failed in a bare Debian 12, after $((SECONDS - started)) s"
  say "$command succeeded after $((SECONDS - started)) s"
done
[[ " ${commands[*]} " != *" run "* || -s $(compgen -G "$root/orrery/orrery-out/*.png" | head -n 1) ]] ||
  fail "./run left no picture"
say "passed"
