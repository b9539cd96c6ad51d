# Run by orrery_embed: writes OUTPUT, a C++ file with the bytes of FILES and the table that FUNCTION returns.
set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS FILES)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  cmake_path(GET file FILENAME name)
  string(APPEND arrays "constexpr char file_${index}[] = {${bytes}'\\0'};\n")
  string(APPEND rows "    {\"${name}\", {file_${index}, sizeof file_${index} - 1}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"render/gl/embedded.h\"

namespace orrery::render {
namespace {

${arrays}
constexpr EmbeddedFile files[] = {
${rows}};

}  // namespace

std::span<const EmbeddedFile> ${FUNCTION}() { return files; }

}  // namespace orrery::render
")
