# Run by orrery_embed: writes OUTPUT, a C++ file with the bytes of FILES and the table that FUNCTION returns. Where
# SOURCES is on, the files are named by their paths from TOP.
set(headers "#include <string_view>\n#include <utility>\n")
set(type "std::pair<std::string_view, std::string_view>")
if(SOURCES)
  set(headers "\n#include \"compute/kernels/runtime/kernel_sources.h\"\n")
  set(type SourceFile)
endif()
set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS FILES)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  cmake_path(GET file FILENAME name)
  if(SOURCES)
    file(RELATIVE_PATH name ${TOP} ${file})
  endif()
  string(APPEND arrays "constexpr char file_${index}[] = {${bytes}'\\0'};\n")
  string(APPEND rows "    {\"${name}\", {file_${index}, sizeof file_${index} - 1}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include <span>
${headers}
namespace orrery {
namespace {

${arrays}
constexpr ${type} files[] = {
${rows}};

}  // namespace

std::span<const ${type}> ${FUNCTION}() { return files; }

}  // namespace orrery
")
