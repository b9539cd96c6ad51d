#include "render/gl/program.h"

#include <algorithm>
#include <glm/gtc/type_ptr.hpp>
#include <span>
#include <stdexcept>

#include "render/gl/gl.h"

#ifdef ORRERY_SHADER_DIR
#include <fstream>
#include <sstream>
#endif

namespace orrery {

std::span<const std::pair<std::string_view, std::string_view>> embedded_shaders();

namespace render {
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
  for (const auto& [file, text] : embedded_shaders()) {
    if (file == name) return std::string{text};
  }
  throw std::runtime_error{"there is no shader " + std::string{name}};
}

#endif

}  // namespace

std::string shader_source(std::string_view name) {
  constexpr std::string_view directive = "#include \"", mark = "#section ";
  const std::string_view file = name.substr(0, name.find('#'));
  std::string text = whole_file(file);
  const std::string heading =
      "\n" + std::string{mark} + std::string{name.substr(std::min(file.size() + 1, name.size()))} + "\n";
  const auto begin = text.find(heading);
  if (begin == std::string::npos) throw std::runtime_error{"there is no shader " + std::string{name}};
  text.erase(0, begin + heading.size());
  text.resize(std::min(text.find(mark), text.size()));
  for (auto at = text.find(directive); at != std::string::npos; at = text.find(directive, at)) {
    const auto name_at = at + directive.size();
    const auto name_end = text.find('"', name_at);
    if (name_end == std::string::npos)
      throw std::runtime_error{"an #include without its quote in " + std::string{name}};
    std::string included = text.substr(name_at, name_end - name_at);
    if (included.starts_with('#')) included.insert(0, file);
    text.replace(at, name_end + 1 - at, shader_source(included));
  }
  return text;
}

namespace {

void delete_shader(unsigned id) {
  glDeleteShader(id);
}

/// Compiles a shader. `preamble` is inserted before its text.
GlObject<delete_shader> compile(GLenum stage, std::string_view name, std::string_view preamble = {}) {
  const std::string source = "#version 450 core\n" + std::string{preamble} + shader_source(name);
  const char* text = source.c_str();
  GlObject<delete_shader> shader{glCreateShader(stage)};
  glShaderSource(shader.id(), 1, &text, nullptr);
  glCompileShader(shader.id());
  int compiled = 0, length = 0;
  glGetShaderiv(shader.id(), GL_COMPILE_STATUS, &compiled);
  if (!compiled) {
    glGetShaderiv(shader.id(), GL_INFO_LOG_LENGTH, &length);
    std::string log(static_cast<std::size_t>(length), '\0');
    glGetShaderInfoLog(shader.id(), length, nullptr, log.data());
    throw std::runtime_error{"shader " + std::string{name} + " does not compile: " + log};
  }
  return shader;
}

}  // namespace

void delete_program(unsigned id) {
  glDeleteProgram(id);
}

Program::Program(std::string_view vertex_shader, std::string_view fragment_shader, std::string_view preamble)
    : GlObject{glCreateProgram()} {
  const auto vertex = compile(GL_VERTEX_SHADER, vertex_shader, preamble);
  const auto fragment = compile(GL_FRAGMENT_SHADER, fragment_shader);
  glAttachShader(id(), vertex.id());
  glAttachShader(id(), fragment.id());
  link(std::string{vertex_shader} + " and " + std::string{fragment_shader});
  glDetachShader(id(), vertex.id());
  glDetachShader(id(), fragment.id());
}

Program::Program(const ComputeShader& shader) : GlObject{glCreateProgram()} {
  const auto compute = compile(GL_COMPUTE_SHADER, shader.name, shader.preamble);
  glAttachShader(id(), compute.id());
  link(std::string{shader.name});
  glDetachShader(id(), compute.id());
  int threads[3] = {};
  glGetProgramiv(id(), GL_COMPUTE_WORK_GROUP_SIZE, threads);
  group_ = {threads[0], threads[1]};
}

void Program::link(const std::string& files) {
  glLinkProgram(id());
  int linked = 0, length = 0;
  glGetProgramiv(id(), GL_LINK_STATUS, &linked);
  if (!linked) {
    glGetProgramiv(id(), GL_INFO_LOG_LENGTH, &length);
    std::string log(static_cast<std::size_t>(length), '\0');
    glGetProgramInfoLog(id(), length, nullptr, log.data());
    throw std::runtime_error{"shaders " + files + " do not link: " + log};
  }
  int count = 0;
  glGetProgramiv(id(), GL_ACTIVE_UNIFORMS, &count);
  for (int i = 0; i < count; ++i) {
    char name[64] = {};
    int size = 0;
    GLenum type = 0;
    glGetActiveUniform(id(), static_cast<GLuint>(i), sizeof name, nullptr, &size, &type, name);
    uniforms_.emplace_back(name, glGetUniformLocation(id(), name));
    const std::string_view array =
        std::string_view{name}.ends_with("[0]") ? std::string_view{name} : std::string_view{};
    for (int element = 1; !array.empty() && element < size; ++element) {
      const std::string its{std::string{array.substr(0, array.size() - 2)} + std::to_string(element) + ']'};
      uniforms_.emplace_back(its, glGetUniformLocation(id(), its.c_str()));
    }
  }
}

void Program::set(std::string_view name, int value) const {
  glProgramUniform1i(id(), location(name), value);
}

void Program::set(std::string_view name, float value) const {
  glProgramUniform1f(id(), location(name), value);
}

void Program::set(std::string_view name, glm::vec2 value) const {
  glProgramUniform2f(id(), location(name), value.x, value.y);
}

void Program::set(std::string_view name, glm::vec3 value) const {
  glProgramUniform3f(id(), location(name), value.x, value.y, value.z);
}

void Program::set(std::string_view name, glm::ivec2 value) const {
  glProgramUniform2i(id(), location(name), value.x, value.y);
}

void Program::set(std::string_view name, const glm::mat4& value) const {
  glProgramUniformMatrix4fv(id(), location(name), 1, GL_FALSE, glm::value_ptr(value));
}

int Program::location(std::string_view name) const {
  const auto found = std::ranges::find(uniforms_, name, &std::pair<std::string, int>::first);
  if (found == uniforms_.end()) throw std::logic_error{"no shader uses the uniform " + std::string{name}};
  return found->second;
}

void dispatch(const Program& program, int groups_x, int groups_y) {
  glUseProgram(program.id());
  glDispatchCompute(static_cast<GLuint>(groups_x), static_cast<GLuint>(groups_y), 1);
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT |
                  GL_FRAMEBUFFER_BARRIER_BIT);
}

void dispatch_over(const Program& program, int width, int height) {
  const glm::ivec2 groups = (glm::ivec2{width, height} + program.group() - 1) / program.group();
  dispatch(program, groups.x, groups.y);
}

void dispatch_over(const Program& program, std::size_t items) {
  constexpr std::size_t most_groups = 65535;
  const auto threads = static_cast<std::size_t>(program.group().x);
  dispatch(program, static_cast<int>(std::min((items + threads - 1) / threads, most_groups)));
}

}  // namespace render
}  // namespace orrery
