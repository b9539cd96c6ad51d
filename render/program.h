#pragma once

#include <glm/glm.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "render/gl_objects.h"

namespace orrery::render {

void delete_program(unsigned id);

/// A linked pair of shaders of shaders/. Uniforms are set by name; their locations are read once, at linking,
/// so that a frame never waits for the driver.
class Program : public GlObject<delete_program> {
 public:
  Program() = default;
  /// File names within shaders/, such as "bodies.vert". Throws std::runtime_error with the compiler's or linker's log.
  Program(std::string_view vertex_file, std::string_view fragment_file);

  /// Throws std::logic_error if the shaders do not use `name`.
  void set(std::string_view name, int value) const;
  void set(std::string_view name, float value) const;
  void set(std::string_view name, glm::vec2 value) const;
  void set(std::string_view name, const glm::mat4& value) const;

 private:
  int location(std::string_view name) const;

  std::vector<std::pair<std::string, int>> uniforms_;
};

}  // namespace orrery::render
