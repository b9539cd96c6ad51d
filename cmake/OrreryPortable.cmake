# ORRERY_PORTABLE: a program that needs the C library, libgcc and, at run time, OpenGL and the NVIDIA driver of the system,
# and nothing else. All other libraries are linked statically, so each needs its static archive: packaging/libraries.sh
# builds those that Debian does not have. MPI is left out, since a program must use the one that started it.
if(ORRERY_PORTABLE)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(ORRERY_MPI OFF)
  set(ORRERY_FMT fmt::fmt-header-only)
  # Of the archives, FreeType needs others, and pkg-config names them only for static links.
  find_library(ORRERY_BROTLI brotlidec REQUIRED)
  find_library(ORRERY_BROTLI_COMMON brotlicommon REQUIRED)
  find_library(ORRERY_BZIP2 bz2 REQUIRED)
  set(ORRERY_PORTABLE_LIBRARIES ${ORRERY_BROTLI} ${ORRERY_BROTLI_COMMON} ${ORRERY_BZIP2})
  add_link_options(-static-libstdc++ -Wl,--exclude-libs,ALL)
else()
  set(ORRERY_FMT fmt::fmt)
endif()
