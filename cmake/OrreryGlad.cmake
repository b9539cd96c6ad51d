# Target orrery_glad: the OpenGL 4.5 core loader, generated once into the build folder from the specification that
# Debian's python3-glad carries (--reproducible: no network). Its C code does not get our warning flags.
set(ORRERY_GLAD_PYTHON /usr/bin/python3 CACHE FILEPATH "A Python 3 that has the module glad 2 (Debian: python3-glad)")
set(glad_dir ${PROJECT_BINARY_DIR}/generated/glad)
if(NOT EXISTS ${glad_dir}/src/gl.c)
  execute_process(
    COMMAND ${ORRERY_GLAD_PYTHON} -m glad --reproducible --quiet --api gl:core=4.5 --extensions= --out-path ${glad_dir} c
    RESULT_VARIABLE failed ERROR_VARIABLE why OUTPUT_QUIET)
  if(NOT failed EQUAL 0 OR NOT EXISTS ${glad_dir}/src/gl.c)
    message(FATAL_ERROR "${ORRERY_GLAD_PYTHON} -m glad could not write the OpenGL loader. Install python3-glad (glad 2), "
                        "or set ORRERY_GLAD_PYTHON to a Python that has it, or configure with -DORRERY_VIEWER=OFF.\n${why}")
  endif()
endif()
add_library(orrery_glad STATIC ${glad_dir}/src/gl.c)
target_include_directories(orrery_glad SYSTEM PUBLIC ${glad_dir}/include)
target_link_libraries(orrery_glad PUBLIC ${CMAKE_DL_LIBS})
