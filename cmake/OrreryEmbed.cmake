# orrery_embed(<target> <function> <file>...): compiles the files' bytes into the target, where
# `std::span<const EmbeddedFile> orrery::render::<function>()` lists them; declare it where it is used.
function(orrery_embed target function)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFUNCTION=${function} "-DFILES=${ARGN}" -DOUTPUT=${output}
            -P ${PROJECT_SOURCE_DIR}/cmake/WriteEmbedded.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/WriteEmbedded.cmake
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${output})
endfunction()
