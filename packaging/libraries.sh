#!/usr/bin/env bash
# Builds the static libraries that a portable program needs and Debian's packages lack, from Debian's source packages:
#   packaging/libraries.sh FOLDER    fills FOLDER/lib and FOLDER/include; does nothing if it has done so before
# GLFW speaks X11 and Wayland, and chooses at run time. HDF5 has the filter deflate alone, and no network.
set -euo pipefail
folder=$(realpath -m "${1:?a folder}")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
source cmake/packages.sh
[[ ! -f $folder/complete ]] || exit 0
work=$folder/work
trap '[[ -f $folder/complete ]] || tail -n 20 "$work"/*.log >&2' EXIT
mkdir -p "$work/lists/partial" "$folder"

needed=(cmake g++ ninja-build libwayland-bin libwayland-dev libxkbcommon-dev libxcursor-dev libxi-dev libxinerama-dev
  libxrandr-dev zlib1g-dev)
mapfile -t missing < <(absent_packages apt "${needed[@]}")
if ((${#missing[@]})); then
  # shellcheck disable=SC2046  # the words of the command
  { apt-get -q update && env DEBIAN_FRONTEND=noninteractive $(install_command apt "${missing[@]}"); } >"$work/apt.log" 2>&1
fi

# sources PACKAGE RELEASE: unpacks the upstream source of a Debian package into $work/PACKAGE.
sources() {
  local package=$1 release=$2 options
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian %s main\n' "$release" \
    >"$work/$release.list"
  options=(-o "Dir::Etc::SourceList=$work/$release.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$work/lists")
  apt-get -q "${options[@]}" update >>"$work/apt.log" 2>&1
  mkdir -p "$work/$package"
  (cd "$work/$package" && apt-get -q "${options[@]}" source --download-only "$package" >>"$work/apt.log" 2>&1 &&
    tar -x --strip-components=1 -f ./*.orig.tar.*)
}
# build PACKAGE OPTION...: configures, compiles and installs into $folder.
build() {
  local package=$1
  shift
  cmake -G Ninja -S "$work/$package" -B "$work/$package/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$folder" \
    -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON "$@" >"$work/$package.log" 2>&1
  ninja -C "$work/$package/build" install >>"$work/$package.log" 2>&1
}

sources glfw3 trixie
build glfw3 -DGLFW_BUILD_WAYLAND=ON -DGLFW_BUILD_X11=ON -DGLFW_BUILD_EXAMPLES=OFF -DGLFW_BUILD_TESTS=OFF -DGLFW_BUILD_DOCS=OFF
sources highway bookworm
build highway -DHWY_ENABLE_TESTS=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_CONTRIB=OFF -DBUILD_TESTING=OFF
sources hdf5 trixie
build hdf5 -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_HL_LIB=OFF -DHDF5_BUILD_CPP_LIB=OFF \
  -DBUILD_TESTING=OFF -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF
# shellcheck disable=SC2016  # pkg-config's own variable
sed -i 's/^Libs:.*/Libs: -L${libdir} -lhdf5/' "$folder/lib/pkgconfig/hdf5.pc"  # CMake writes none
rm -rf "$work"
touch "$folder/complete"
