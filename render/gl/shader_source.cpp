#include "render/gl/shader_source.h"

#include <stdexcept>

#ifdef ORRERY_SHADER_DIR
#include <fstream>
#include <sstream>
#else
#include <algorithm>

#include "render/gl/embedded.h"
#endif

namespace orrery::render {
namespace {

#ifdef ORRERY_SHADER_DIR
std::string whole_file(std::string_view name) {
  const std::string path = ORRERY_SHADER_DIR "/" + std::string{name};
  std::ifstream file{path};
  if (!file) throw std::runtime_error{"cannot read the shader " + path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
#else
std::string whole_file(std::string_view name) {
  const auto files = embedded_shaders();
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  if (found == files.end()) throw std::runtime_error{"there is no shader " + std::string{name}};
  return std::string{found->bytes};
}
#endif

}  // namespace

std::string shader_source(std::string_view file) {
  constexpr std::string_view directive = "#include \"";
  std::string text = whole_file(file);
  for (auto at = text.find(directive); at != std::string::npos; at = text.find(directive, at)) {
    const auto name_at = at + directive.size();
    const auto name_end = text.find('"', name_at);
    if (name_end == std::string::npos)
      throw std::runtime_error{"an #include without its quote in " + std::string{file}};
    text.replace(at, name_end + 1 - at, shader_source(text.substr(name_at, name_end - name_at)));
  }
  return text;
}

}  // namespace orrery::render
