#!/usr/bin/env bash
# Tries packages in minimal systems that have nothing else, as a stranger would install them:
#   packaging/check.sh FOLDER    tries the wheel, the archive and each .deb of FOLDER
# Each trial prints one line with what was seen: the version, `verify` of 1,024 bodies, and a picture drawn by Mesa.
# Needs root, debootstrap and the Debian mirror. ORRERY_SYSTEMS=FOLDER keeps the systems for the next call.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
source packaging/system.sh
export SHARE
SHARE=$(realpath "${1:?a folder with packages}")
failed=0

# try NAME SUITE WANTED INSTALL: installs the packages WANTED of Debian, runs INSTALL, then the program `orrery`.
try() {
  local name=$1 suite=$2 wanted=$3 install=$4 system started seen
  system=$(mktemp -d)
  new_system "$suite" "$system"
  started=$SECONDS
  # shellcheck disable=SC2016
  if seen=$(in_system "$system" bash -c '
    set -e
    { apt-get -q update; [[ -z $1 ]] || apt-get -q -y install --no-install-recommends $1; } >/tmp/apt.log 2>&1
    start=$(date +%s.%N)
    eval "$2" >/tmp/install.log 2>&1 || { tail -n 3 /tmp/install.log; exit 1; }
    orrery --version
    orrery verify -n 1k --kernels all | tail -n 1
    LIBGL_ALWAYS_SOFTWARE=1 orrery --offscreen --frames 2 --screenshot /tmp/picture.png >/tmp/run.log 2>&1 ||
      { tail -n 1 /tmp/run.log; exit 1; }
    stat -c "picture of %s bytes" /tmp/picture.png
    awk -v a="$start" -v b="$(date +%s.%N)" "BEGIN { printf \"%.1f s from the installation to here\n\", b - a }"
    ' bash "$wanted" "$install" 2>&1); then
    say "$name in $suite, $((SECONDS - started)) s: ${seen//$'\n'/; }"
  else
    say "$name in $suite FAILED: ${seen//$'\n'/; }"
    failed=1
  fi
  rm -rf "$system"
}

shopt -s nullglob
graphics='libegl1 libgl1 libgl1-mesa-dri'
for wheel in "$SHARE"/orrery-*.whl; do
  for suite in bookworm trixie; do
    try "the wheel" "$suite" "python3 python3-venv $graphics" \
      "python3 -m venv /opt/o && /opt/o/bin/pip install --no-index '/share/$(basename "$wheel")' && ln -s /opt/o/bin/orrery /usr/bin/orrery"
  done
done
for archive in "$SHARE"/orrery-*.tar.xz; do
  for suite in bookworm trixie; do
    try "the archive" "$suite" "xz-utils $graphics" \
      "tar -xf '/share/$(basename "$archive")' -C /opt && ln -s /opt/orrery-*/bin/orrery /usr/bin/orrery"
  done
done
for package in "$SHARE"/orrery_*.deb; do
  suite=$(basename "$package" | cut -d _ -f 2)
  try "the .deb" "$suite" "" "apt-get -q -y install --no-install-recommends '/share/$(basename "$package")'"
done
exit $failed
