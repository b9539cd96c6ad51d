#include "render/gl/gl.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace orrery::render {
namespace {

std::string text(GLenum name) {
  const GLubyte* value = glGetString(name);
  return value ? reinterpret_cast<const char*>(value) : "";
}

/// Largest side that both a texture and a viewport may have.
int max_side() {
  GLint texture = 0;
  std::array<GLint, 2> viewport{};
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &texture);
  glGetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport.data());
  return std::min({texture, viewport[0], viewport[1]});
}

}  // namespace

GlInfo load_gl(GlLoader loader) {
  const int version = gladLoadGL(loader);
  if (version == 0) throw std::runtime_error{"no OpenGL: the context is not current or offers no functions"};
  GlInfo info{text(GL_VENDOR), text(GL_RENDERER), text(GL_VERSION)};
  if (version < GLAD_MAKE_VERSION(4, 5)) {
    throw std::runtime_error{"OpenGL 4.5 is needed, but " + info.renderer + " offers " + info.version +
                             "; LIBGL_ALWAYS_SOFTWARE=1 chooses Mesa's software renderer"};
  }
  info.max_side = max_side();
  return info;
}

bool has_extension(std::string_view name) {
  GLint count = 0;
  glGetIntegerv(GL_NUM_EXTENSIONS, &count);
  for (GLint i = 0; i < count; ++i) {
    const GLubyte* found = glGetStringi(GL_EXTENSIONS, static_cast<GLuint>(i));
    if (found && name == reinterpret_cast<const char*>(found)) return true;
  }
  return false;
}

bool context_was_reset() {
  return glGetGraphicsResetStatus() != GL_NO_ERROR;
}

bool draws_in_software() {
  const std::string renderer = text(GL_RENDERER);
  const auto is_part = [&](const char* name) { return renderer.find(name) != std::string::npos; };
  return is_part("llvmpipe") || is_part("softpipe") || is_part("SwiftShader");
}

}  // namespace orrery::render
