# orrery_embed(<target> <function> [SOURCES] <file>...): compiles the files' bytes into the target, where
# `std::span<const std::pair<std::string_view, std::string_view>> orrery::<function>()`
# lists their names and bytes; declare it where it is used. With SOURCES, which compute/ uses, it is
# `std::span<const SourceFile> orrery::<function>()`.
function(orrery_embed target function)
  cmake_parse_arguments(arg "SOURCES" "" "" ${ARGN})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFUNCTION=${function} "-DFILES=${arg_UNPARSED_ARGUMENTS}" -DOUTPUT=${output}
            -DSOURCES=${arg_SOURCES} -DTOP=${PROJECT_SOURCE_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/WriteEmbedded.cmake
    DEPENDS ${arg_UNPARSED_ARGUMENTS} ${PROJECT_SOURCE_DIR}/cmake/WriteEmbedded.cmake
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${output})
endfunction()
