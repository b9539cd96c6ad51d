set(id "unknown")
if(KNOWN_ID)
  set(id ${KNOWN_ID})
elseif(GIT AND EXISTS ${SOURCE_DIR}/.git)  # not that of a repository around an unpacked archive
  execute_process(COMMAND ${GIT} describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed EQUAL 0)
    set(id ${described})
  endif()
endif()
string(REGEX REPLACE " +" " " FLAGS "${FLAGS}")
string(REGEX REPLACE [[(["\\])]] [[\\\1]] FLAGS "${FLAGS}")  # it becomes a C++ string
string(STRIP "${FLAGS}" FLAGS)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#pragma once

namespace orrery {

inline constexpr const char* version = "@VERSION@";
inline constexpr const char* git_id = "@id@";
inline constexpr const char* build_flags = "@FLAGS@";
inline constexpr const char* cuda_architectures = "@CUDA_ARCHITECTURES@";

}  // namespace orrery
]])
