#!/usr/bin/env bash
# Builds the .deb for a release of Debian, in a minimal system of that release, without and with CUDA as this machine has
# it: packaging/deb.sh SUITE FOLDER    writes FOLDER/orrery_SUITE_VERSION_ARCH.deb
# The CUDA toolkit of this machine, if it has one, is seen in the system as /usr/local/cuda.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
source packaging/system.sh
suite=${1:?a release of Debian, such as trixie} out=$(realpath -m "${2:?a folder}")

system=$(mktemp -d)
trap 'rm -rf "$system"' EXIT
new_system "$suite" "$system"
mkdir -p "$out" "$system/source"
git archive HEAD | tar -x -C "$system/source"
if [[ -d /usr/local/cuda ]]; then cp -r "$(readlink -f /usr/local/cuda)" "$system/usr/local/cuda"; fi
mapfile -t needed < <(for p in run more; do package_groups apt "$p"; done | sed 's#/.*##' | grep -vx ffmpeg)
in_system "$system" bash -c 'apt-get -q update && apt-get -q -y install --no-install-recommends "$@" dpkg-dev file python3' \
  bash "${needed[@]}" >"$out/$suite.log" 2>&1
# shellcheck disable=SC2016
in_system "$system" bash -c '
  set -e
  export PATH=$PATH:/usr/local/cuda/bin
  cd /source
  cmake --preset release -DCMAKE_INSTALL_PREFIX=/usr -DORRERY_GIT_ID="$1"
  ninja -C build/release orrery
  packaging/texts.py build/release/bin/orrery build/release/texts
  cd build/release && cpack -G DEB' bash "$(git describe --always --dirty --abbrev=12)" >>"$out/$suite.log" 2>&1
for package in "$system"/source/build/release/*.deb; do
  name=$(basename "$package")
  mv "$package" "$out/${name/_/_${suite}_}"
  say "$out/${name/_/_${suite}_}"
done
