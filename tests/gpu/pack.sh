#!/usr/bin/env bash
# Packs the program and the tests of a build folder, with the shared libraries and the shaders that they need, for a machine
# that has a GPU but neither the packages nor the time to build:
#   tests/gpu/pack.sh BUILD_FOLDER OUT_FOLDER [TEST...]
# TEST names a program in BUILD_FOLDER/tests; without any, those that evidence.sh runs. On the other machine, as root:
#   source OUT_FOLDER/enter
# unpacks them to the paths where they were, which the programs have in them, and sets `build` and `orrery`.
set -euo pipefail
build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
shift 2
cd "$build"
programs=(bin/orrery)
if (($#)); then
  programs+=("${@/#/tests/}")
else
  programs+=(tests/{app_gpu,backend,compute_gpu}_test)
  [ ! -x tests/render_gl_test ] || programs+=(tests/render_gl_test)
fi

packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT
root=$packed$build
mkdir -p "$root"/{bin,tests,lib}
for program in "${programs[@]}"; do strip -o "$root/$program" "$program"; done
# Programs of the preset dev read shaders from the sources.
sources=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' CMakeCache.txt)
mkdir -p "$packed$sources"
cp -r "$sources/shaders" "$packed$sources/"

# Without the C and C++ runtimes and the driver's library, which the other machine has. libraries NAME...: what these need.
libraries() {
  ldd "$@" | sed -n 's|.* => \(/[^ ]*\) (.*|\1|p' | sort -u |
    grep -vE '/(libc|libm|libpthread|libdl|librt|libresolv|libstdc\+\+|libgcc_s|ld-linux[^/]*|libcuda)\.so'
}
# OpenGL's loaders are opened at run time, and so are X's libraries, by GLFW and by NVIDIA's GLX.
mapfile -t loaders < <(ldconfig -p | grep -E 'x86-64|AArch64' |
  sed -nE 's#.*lib(EGL|GL|GLX|OpenGL|X11|X11-xcb|Xext|Xrandr|Xinerama|Xcursor|Xi)\.so\.[0-9] .* => ##p')
libraries "${programs[@]}" "${loaders[@]}" | cat - <(printf '%s\n' "${loaders[@]}") | sort -u |
  while read -r library; do cp -L "$library" "$root/lib/"; done

# Tests share most of their code: a dictionary as large as all of them finds it.
tar -C "$packed" -cf - "${build#/}" "${sources#/}/shaders" | xz -T1 --lzma2=preset=6,dict=400MiB >"$out/build.tar.xz"
cat >"$out/enter" <<ENTER
# Unpacks what pack.sh packed.
[ -d "$build/lib" ] || tar -xJf "\$(dirname "\${BASH_SOURCE[0]}")/build.tar.xz" -C /
# If this machine has MPI, its mpirun needs programs that have the same library.
if command -v mpirun >/dev/null && ! ldd "$build/bin/orrery" | grep -q 'libmpi.* not found'; then
  rm -f "$build"/lib/lib{mpi,open-rte,open-pal,hwloc,event_core,event_pthreads}[.-]*
fi
export build="$build" orrery="$build/bin/orrery" LD_LIBRARY_PATH="$build/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
nvidia_egl=\$(ls /usr/local/nvidia/share/glvnd/egl_vendor.d/10_nvidia.json /usr/share/glvnd/egl_vendor.d/10_nvidia.json \\
  2>/dev/null | head -n 1)
[ -z "\$nvidia_egl" ] || export __EGL_VENDOR_LIBRARY_FILENAMES=\$nvidia_egl
ENTER
ls -l "$out"
