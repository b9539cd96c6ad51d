# orrery_descriptors(<folder> <file>...): THE list of what the folder offers, one line each: kernels, integrators, scenes,
# snapshot formats, body colours. It is the build entry and the registration: the file stem names the descriptor, and the
# folder's catalog or registry includes the generated list of names, <folder>_list.inc. The first one is the default where
# there is one. Adds the files to the library that the variable descriptors_library names. Sets <folder>_files, all of
# them with their paths. A line without its file fails at configure, a descriptor of another name at link.
function(orrery_descriptors folder)
  set(rows "")
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/ OUTPUT_VARIABLE files)
  set(${folder}_files ${files} PARENT_SCOPE)
  foreach(file IN LISTS ARGN)
    if(file MATCHES "[.]cu$" AND NOT ORRERY_HAVE_CUDA)
      continue()
    endif()
    cmake_path(GET file STEM stem)
    string(APPEND rows "X(${stem})\n")
    target_sources(${descriptors_library} PRIVATE ${folder}/${file})
  endforeach()
  file(CONFIGURE OUTPUT ${folder}_list.inc CONTENT "${rows}" @ONLY)
endfunction()
