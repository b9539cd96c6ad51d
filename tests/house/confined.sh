#!/usr/bin/env bash
# Runs a command in this checkout as on a machine that has less than this one. Needs root, Linux and overlayfs.
#   tests/house/confined.sh bare COMMAND...   as root of a Debian 12 with the packages of cmake/packages.txt alone:
#                                             without a CUDA toolkit, its libraries in the loader's cache, /usr/local,
#                                             /opt, home folders and all other packages
#   tests/house/confined.sh user COMMAND...   as a user who owns the checkout, without rights of root, mounts and user
#                                             namespaces; what the command writes is gone afterwards
#   tests/house/confined.sh bare|user --check whether this machine permits it
# The command sees a copy-on-write view of / in mount and process namespaces of its own: nothing that it does to files
# outside of the checkout reaches the machine. Its environment is PATH, HOME and LANG.
# Exit status: the command's; 77 and the reason in one line if this machine does not permit it.
set -euo pipefail

refuse() {
  printf 'confined.sh: %s\n' "$*" >&2
  exit 77
}

mode=${1-}
[[ $mode == bare || $mode == user ]] && (($# > 1)) || {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}
shift
top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)

# The first stage opens the namespaces; the second, in them, mounts.
if [[ ${ORRERY_CONFINED-} != inside ]]; then
  ((EUID == 0)) || refuse "needs root"
  for tool in unshare pivot_root setpriv apt-cache dpkg-query; do
    command -v "$tool" >/dev/null || refuse "needs $tool"
  done
  said=$(unshare --mount --pid --fork true 2>&1) || refuse "no namespaces here: ${said##*$'\n'}"
  scratch=$(mktemp -d)
  trap 'rmdir "$scratch"' EXIT
  status=0
  ORRERY_CONFINED=inside ORRERY_SCRATCH=$scratch unshare --mount --pid --fork --kill-child \
    "${BASH_SOURCE[0]}" "$mode" "$@" || status=$?
  exit $status
fi

scratch=$ORRERY_SCRATCH root=$ORRERY_SCRATCH/root
try() {
  local said
  said=$("$@" 2>&1) || refuse "not permitted here: $*: ${said##*$'\n'}"
}
overlay() { # overlay NAME LOWER TARGET
  mkdir -p "$scratch/$1/upper" "$scratch/$1/work"
  try mount -t overlay -o "lowerdir=$2,upperdir=$scratch/$1/upper,workdir=$scratch/$1/work" overlay "$3"
}

try mount --make-rprivate /
try mount -t tmpfs -o mode=755 tmpfs "$scratch"
mkdir "$root"

# A character device 0/0 hides in an overlay what has its name below it.
hide() {
  mkdir -p "$scratch/system/upper/$(dirname "$1")"
  mknod "$scratch/system/upper/$1" c 0 0
}
empty_folders=(home mnt opt root srv tmp usr/local)
if [[ $mode == bare ]]; then
  shopt -s dotglob
  for path in /*; do
    case ${path#/} in
      bin | boot | dev | etc | lib | lib32 | lib64 | libx32 | media | proc | run | sbin | sys | usr | var) ;;
      *) hide "${path#/}" ;;
    esac
  done
  shopt -u dotglob
  hide usr/local
  [[ ! -d $scratch/system/upper/usr ]] || chmod 755 "$scratch/system/upper/usr"
fi
overlay system / "$root"
for folder in "${empty_folders[@]}"; do
  [[ -d $root/$folder ]] || mkdir -m 755 "$root/$folder"
done

# Prints the files that installed packages which README.md does not install have for themselves, the deepest first.
foreign_files() {
  local -a packages base
  mapfile -t packages < <(cd "$top" && source cmake/packages.sh &&
    for purpose in run more test; do package_groups apt "$purpose"; done | tr / '\n' | sed '/^-$/d' | sort -u)
  mapfile -t packages < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null | sed -n 's/^installed //p')
  mapfile -t base < <(dpkg-query -W -f '${Essential} ${Priority} ${Package}\n' | awk '$1 == "yes" || $2 == "required" { print $3 }')
  apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances "${packages[@]}" "${base[@]}" apt | grep -v '^[ <]' | sort -u >"$scratch/kept"
  dpkg-query -W -f '${db:Status-Status} ${binary:Package}\n' | sed -n 's/^installed //p' |
    awk 'NR == FNR { kept[$1]; next } { name = $1; sub(/:.*/, "", name) } !(name in kept) && !($1 in kept)' "$scratch/kept" - >"$scratch/hidden"
  xargs dpkg-query -L <"$scratch/kept" 2>/dev/null | sort -u >"$scratch/kept_files" || true
  xargs dpkg-query -L <"$scratch/hidden" 2>/dev/null | sort -u | comm -23 - "$scratch/kept_files" | sort -r
}

if [[ $mode == bare ]]; then
  foreign_files >"$scratch/hidden_files"
  for package in cmake clang-14 libgtest-dev; do
    grep -qx "$package" "$scratch/kept" || refuse "$package is not installed; ./test installs it"
  done
  # A driver's libraries belong to no package where a container's start puts them in. The upper folder of the overlay
  # takes the removals.
  for file in "$root"/etc/ld.so.conf.d/* "$root"/usr/lib/x86_64-linux-gnu/lib{cuda,cupti,nccl,nvidia,nvrtc}*; do
    grep -qx "${file#"$root"}" "$scratch/kept_files" || printf '%s\n' "${file#"$root"}"
  done >>"$scratch/hidden_files"
  chroot "$root" find /usr/lib/python3 -name __pycache__ -prune -exec rm -rf {} + # an empty folder is a package of Python's
  tr '\n' '\0' <"$scratch/hidden_files" | xargs -0 chroot "$root" rm -df -- 2>/dev/null || true
  chroot "$root" ldconfig
fi

for folder in dev sys; do try mount --rbind "/$folder" "$root/$folder"; done
try mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
try mount -t proc proc "$root/proc"
try mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mkdir -p "$root$top"
variables=(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
# shellcheck disable=SC2016  # the arguments of the inner shell
there=(bash -c 'cd "$0" && exec "$@"' "$top")
if [[ $mode == bare ]]; then
  # Without LANG, as a container of Debian starts.
  try mount --rbind "$top" "$root$top"
  cd "$root"
  command=("${variables[@]}" HOME=/root "${there[@]}" "$@")
  pivot_root . .
  umount -l .
else
  # The user owns every folder, and every file but the large ones, which builds make and tests only read.
  overlay checkout "$top" "$root$top"
  user=65534:65534
  mkdir "$root/tmp/home"
  chown $user "$root/tmp/home"
  find "$root$top" -xdev -path "$root$top/build/readers" -prune -o \( -type d -o -name '.ninja*' -o -size -2048k \) -print0 |
    xargs -0 chown -h $user
  folder=$top
  while [[ $folder != / ]]; do
    folder=$(dirname "$folder")
    chmod o+x "$root$folder"
  done
  # The kernel opens no user namespaces, in which mounts would be possible, for a process whose root is a folder.
  command=(chroot "$root" setpriv "--reuid=${user%:*}" "--regid=${user#*:}" --clear-groups --no-new-privs --inh-caps=-all
    --bounding-set=-all "${variables[@]}" HOME=/tmp/home LANG=C.UTF-8 "${there[@]}" "$@")
fi
[[ $1 != --check ]] || exit 0
unset ORRERY_CONFINED ORRERY_SCRATCH
exec "${command[@]}"
