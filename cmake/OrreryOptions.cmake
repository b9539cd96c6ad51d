# Language level, warnings and sanitizers that every target of the project shares, through `orrery_options`.
add_library(orrery_options INTERFACE)
target_include_directories(orrery_options INTERFACE ${PROJECT_SOURCE_DIR})
# By hand rather than by CMAKE_CXX_STANDARD: CUDA sources would inherit it, and CMake 3.25 does not know nvcc 13's flag.
target_compile_options(orrery_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-std=c++20>)

set(warnings -Wall -Wextra -Wconversion $<$<BOOL:${ORRERY_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND warnings -Wno-restrict)  # at -O3, GCC 12 warns of overlaps inside std::string that cannot be (bug 105651)
endif()
target_compile_options(orrery_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${warnings}>)

if(ORRERY_SANITIZE)
  # What a sanitizer finds ends the program, so that its test fails. The added checks make GCC warn of variables that are
  # initialized. The presets add -O1 and -g1, which halve the compile time: reports need lines, not variables.
  target_compile_options(orrery_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${ORRERY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
    $<$<CXX_COMPILER_ID:Clang>:-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/tests/sanitizer_ignorelist.txt>>)
  target_compile_definitions(orrery_options INTERFACE ORRERY_SANITIZED)
  target_link_options(orrery_options INTERFACE -fsanitize=${ORRERY_SANITIZE})
  if(ORRERY_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # tests/fuzz links the program's own libraries: they count for libFuzzer which branches an input takes.
    set(ORRERY_FUZZ TRUE)
    target_compile_options(orrery_options INTERFACE -fsanitize=fuzzer-no-link,float-cast-overflow
      -fsanitize-coverage-ignorelist=${PROJECT_SOURCE_DIR}/tests/fuzz/coverage_ignorelist.txt)
  endif()
endif()
