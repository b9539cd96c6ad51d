#include "render/gl.h"

#include <stdexcept>

namespace orrery::render {
namespace {

std::string text(GLenum name) {
  const GLubyte* value = glGetString(name);
  return value ? reinterpret_cast<const char*>(value) : "";
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
  return info;
}

}  // namespace orrery::render
