// Shaders: their text, and linked programs.
#pragma once

#include <cstddef>
#include <glm/glm.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "render/gl/gl_objects.h"

namespace orrery::render {

/// Returns the text of a shader, named FILE#SECTION, from a file in shaders/. Reads the embedded copy, or in a
/// development build (CMake: ORRERY_DEVELOPMENT) the current file. A section begins with a line `#section NAME` and
/// ends at the next one. A line `#include "FILE#SECTION"`, or `#include "#SECTION"` for the same file, is replaced by
/// that section. Throws std::runtime_error for an unknown name.
std::string shader_source(std::string_view name);
void delete_program(unsigned id);

/// A compute shader: its name for shader_source(), and lines that are inserted before its code, such as #define.
struct ComputeShader {
  std::string_view name, preamble{};
};

/// Linked shaders from shaders/. Uniforms are set by name. Their locations are read once, at linking, so that a frame
/// never waits for the driver.
class Program : public GlObject<delete_program> {
 public:
  Program() = default;
  /// Links the shaders with these names for shader_source(). The preamble is inserted before the vertex shader's code.
  /// Throws std::runtime_error with the log of the compiler or linker.
  Program(std::string_view vertex_shader, std::string_view fragment_shader, std::string_view preamble = {});
  explicit Program(const ComputeShader& shader);

  /// Sets a uniform. Throws std::logic_error if the shaders do not use `name`. An array element has a name such as
  /// "a[1]".
  void set(std::string_view name, int value) const;
  void set(std::string_view name, float value) const;
  void set(std::string_view name, glm::vec2 value) const;
  void set(std::string_view name, glm::vec3 value) const;
  void set(std::string_view name, glm::ivec2 value) const;
  void set(std::string_view name, const glm::mat4& value) const;

  /// Returns the number of threads in a group of a compute shader, along x and y.
  glm::ivec2 group() const noexcept { return group_; }

 private:
  void link(const std::string& files);
  int location(std::string_view name) const;

  std::vector<std::pair<std::string, int>> uniforms_;
  glm::ivec2 group_{1};
};

/// Starts groups of a compute program. All later commands see what these groups write.
void dispatch(const Program& program, int groups_x, int groups_y = 1);

/// Starts one thread for each item of `width` x `height`; the last groups may have threads beyond these.
void dispatch_over(const Program& program, int width, int height);

/// Starts one thread for each of `items`, up to the number of groups that every driver starts. If there are more items,
/// each thread handles several, with a stride.
void dispatch_over(const Program& program, std::size_t items);

}  // namespace orrery::render
