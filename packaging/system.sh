# Minimal Debian systems in folders, for builds and trials. Sourced from the top folder; needs root and debootstrap.
# shellcheck shell=bash

# shellcheck source=cmake/setup.sh
source cmake/setup.sh

# debian_mirror: prints where this machine's apt has Debian from, or Debian's own address.
debian_mirror() {
  local mirror
  # shellcheck disable=SC2016  # fields of apt
  mirror=$(apt-get indextargets --format '$(SITE) $(ORIGIN) $(COMPONENT)' 2>/dev/null |
    awk '$2 == "Debian" && $3 == "main" && $1 !~ /security/ { print $1; exit }')
  printf '%s\n' "${mirror:-http://deb.debian.org/debian}"
}

# new_system SUITE FOLDER: makes FOLDER a minimal system of Debian, such as trixie, with what Debian calls required, and
# with this machine's proxies and name servers. A tar file in $ORRERY_SYSTEMS, if that is set, keeps it for the next call.
new_system() {
  local suite=$1 folder=$2 kept=${ORRERY_SYSTEMS-}/$1.tar
  ((EUID == 0)) || fail "a system in a folder needs root"
  command -v debootstrap >/dev/null || fail "debootstrap is missing (Debian: debootstrap)"
  mkdir -p "$folder"
  if [[ -n ${ORRERY_SYSTEMS-} && -f $kept ]]; then
    tar -xf "$kept" -C "$folder"
  else
    logged "$folder.log" debootstrap --variant=minbase "$suite" "$folder" "$(debian_mirror)"
    [[ -z ${ORRERY_SYSTEMS-} ]] || tar -cf "$kept" -C "$folder" .
  fi
  # Not what this machine keeps and where.
  apt-config dump | grep -E '^Acquire::(http|https|ftp|Retries|Check)' >"$folder/etc/apt/apt.conf.d/90host" || true
  cp -L /etc/resolv.conf /etc/hosts "$folder/etc/"
}

# in_system FOLDER COMMAND...: runs a command as root of the system, in namespaces of its own, so that no process or mount
# outlives it. Folder /share is $SHARE, if that is set.
in_system() {
  local folder=$1
  shift
  [[ -z ${SHARE-} ]] || mkdir -p "$folder/share"
  # shellcheck disable=SC2016  # the arguments of the inner shell
  FOLDER=$folder unshare --mount --pid --fork --kill-child bash -euc '
    mount --make-rprivate /
    mount -t proc proc "$FOLDER/proc"
    mount -t sysfs -o ro sysfs "$FOLDER/sys"
    mount -t tmpfs -o mode=1777 tmpfs "$FOLDER/tmp"
    mount -t devpts devpts "$FOLDER/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$FOLDER/dev/shm"
    [[ -z ${SHARE-} ]] || mount --bind "$SHARE" "$FOLDER/share"
    exec chroot "$FOLDER" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
      LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' bash "$@"
}
