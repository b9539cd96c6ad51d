# What `cmake --install` and `cpack -G DEB` write. packaging/ has the scripts.
include(GNUInstallDirs)
if(SKBUILD)  # the wheel: the program alone, in the folder of the environment's programs
  install(PROGRAMS $<TARGET_FILE:orrery> DESTINATION ${SKBUILD_SCRIPTS_DIR})
  return()
endif()
install(TARGETS orrery)
if(ORRERY_VIEWER)
  install(FILES assets/orrery.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  install(FILES assets/icon/orrery.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
endif()
set(texts ${PROJECT_BINARY_DIR}/texts)  # packaging/texts.py writes them
install(FILES ${texts}/orrery.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(FILES ${texts}/orrery.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME orrery OPTIONAL)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/orrery RENAME copyright)

set(CPACK_PACKAGE_NAME orrery)
set(CPACK_PACKAGE_CONTACT "The Orrery developers <orrery@users.noreply.github.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Interactive laboratory for gravitational N-body computation")
set(CPACK_PACKAGE_DESCRIPTION "Orrery shows how two galaxies collide while their forces are computed by one of many kernels,
on CPUs and NVIDIA GPUs, and what each kernel costs in time and in error. Without a window it renders films, runs
benchmarks and verifies kernels.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libegl1, libgl1, libgl1-mesa-dri")  # opened at run time
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ffmpeg)
include(CPack)
