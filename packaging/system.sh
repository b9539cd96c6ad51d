# Minimal Debian systems in folders, for builds and trials. Sourced from the top folder; needs root and debootstrap.
# shellcheck shell=bash

# shellcheck source=cmake/setup.sh
source cmake/setup.sh

# new_system SUITE FOLDER: makes FOLDER a minimal system of Debian, such as trixie, with what Debian calls required. A
# tar file in $ORRERY_SYSTEMS, if that is set, keeps it for the next call.
new_system() {
  local suite=$1 folder=$2 kept=${ORRERY_SYSTEMS-}/$1.tar
  ((EUID == 0)) || fail "a system in a folder needs root"
  command -v debootstrap >/dev/null || fail "debootstrap is missing (Debian: debootstrap)"
  mkdir -p "$folder"
  if [[ -n ${ORRERY_SYSTEMS-} && -f $kept ]]; then
    tar -xf "$kept" -C "$folder"
  else
    logged "$folder.log" debootstrap --variant=minbase "$suite" "$folder" http://deb.debian.org/debian
    [[ -z ${ORRERY_SYSTEMS-} ]] || tar -cf "$kept" -C "$folder" .
  fi
}

# in_system FOLDER COMMAND...: runs a command as root of the system, in namespaces of its own. Folder /share is $SHARE.
in_system() {
  local folder=$1
  shift
  mkdir -p "$folder/share"
  # shellcheck disable=SC2016  # the arguments of the inner shell
  FOLDER=$folder unshare --mount --pid --fork --kill-child bash -c '
    mount --make-rprivate / && mount -t proc proc "$FOLDER/proc" && mount --rbind /dev "$FOLDER/dev" &&
      { [[ -z ${SHARE-} ]] || mount --bind "$SHARE" "$FOLDER/share"; } &&
      exec chroot "$FOLDER" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"' bash "$@"
}
