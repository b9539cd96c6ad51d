#include "render/gl/gl.h"

#define EGL_NO_X11
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace orrery::render {
namespace {

std::string text(GLenum name) {
  const GLubyte* value = glGetString(name);
  return value ? reinterpret_cast<const char*>(value) : "";
}

/// Returns the largest side that both a texture and a viewport may have.
int max_side() {
  GLint texture = 0;
  std::array<GLint, 2> viewport{};
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &texture);
  glGetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport.data());
  return std::min({texture, viewport[0], viewport[1]});
}

bool software_asked_for() {
  const char* value = std::getenv("LIBGL_ALWAYS_SOFTWARE");
  return value && *value && std::string_view{value} != "0" && std::string_view{value} != "false";
}

/// The functions of libEGL.so.1. The program also starts where there is no such library.
struct Egl {
  Egl() {
    if (!dlopen("libEGL.so.1", RTLD_LAZY | RTLD_GLOBAL)) {
      throw std::runtime_error{std::string{"no OpenGL without a window: "} + dlerror() +
                               ". Install the GPU's driver with EGL, or Mesa's software renderer (Debian: libegl1 and "
                               "libgl1-mesa-dri)"};
    }
    find(bind_api, "eglBindAPI");
    find(choose_config, "eglChooseConfig");
    find(create_context, "eglCreateContext");
    find(destroy_context, "eglDestroyContext");
    find(get_proc_address, "eglGetProcAddress");
    find(initialize, "eglInitialize");
    find(make_current, "eglMakeCurrent");
    find(terminate, "eglTerminate");
  }

  decltype(&eglBindAPI) bind_api;
  decltype(&eglChooseConfig) choose_config;
  decltype(&eglCreateContext) create_context;
  decltype(&eglDestroyContext) destroy_context;
  decltype(&eglGetProcAddress) get_proc_address;
  decltype(&eglInitialize) initialize;
  decltype(&eglMakeCurrent) make_current;
  decltype(&eglTerminate) terminate;

 private:
  template <class Function>
  static void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    if (!function) throw std::runtime_error{std::string{"no OpenGL without a window: libEGL.so.1 has no "} + name};
  }
};

/// Loads the library at the first call. Throws std::runtime_error if it cannot.
const Egl& egl() {
  static const Egl functions;
  return functions;
}

template <class Function>
Function extension(const char* name) {
  return reinterpret_cast<Function>(egl().get_proc_address(name));
}

/// Returns the displays to try, the best first. None is initialised yet.
std::vector<EGLDisplay> displays() {
  std::vector<EGLDisplay> found;
  const auto display_of = extension<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT");
  if (!display_of) return found;
  const auto add = [&](EGLenum platform, void* native) {
    if (const EGLDisplay display = display_of(platform, native, nullptr); display != EGL_NO_DISPLAY)
      found.push_back(display);
  };
  const auto query_devices = extension<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT");
  const auto query_device = extension<PFNEGLQUERYDEVICESTRINGEXTPROC>("eglQueryDeviceStringEXT");
  if (query_devices && query_device && !software_asked_for()) {
    std::array<EGLDeviceEXT, 32> devices{};
    EGLint count = 0;
    query_devices(static_cast<EGLint>(devices.size()), devices.data(), &count);
    const auto is_nvidia = [&](EGLDeviceEXT device) {
      const char* extensions = query_device(device, EGL_EXTENSIONS);
      return extensions && std::string_view{extensions}.find("EGL_NV_device_cuda") != std::string_view::npos;
    };
    const auto end = devices.begin() + std::max(count, 0);
    std::stable_partition(devices.begin(), end, is_nvidia);
    std::for_each(devices.begin(), end, [&](EGLDeviceEXT device) { add(EGL_PLATFORM_DEVICE_EXT, device); });
  }
  add(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY);
  return found;
}

/// Creates a core context of at least this version. With `reports_resets`, the context is lost on a reset, see
/// context_was_reset().
EGLContext create_context(EGLDisplay display, EGLConfig config, int major, int minor, bool reports_resets) {
  const std::array wanted{EGL_CONTEXT_MAJOR_VERSION,
                          major,
                          EGL_CONTEXT_MINOR_VERSION,
                          minor,
                          EGL_CONTEXT_OPENGL_PROFILE_MASK,
                          EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                          reports_resets ? EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY : EGL_NONE,
                          EGL_LOSE_CONTEXT_ON_RESET,
                          EGL_NONE};
  return egl().create_context(display, config, EGL_NO_CONTEXT, wanted.data());
}

/// Creates a core context of at least this version and makes it current. Returns EGL_NO_CONTEXT if that is not
/// possible.
EGLContext make_context(EGLDisplay display, int major, int minor) {
  constexpr std::array config_wanted{EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (!egl().bind_api(EGL_OPENGL_API) || !egl().choose_config(display, config_wanted.data(), &config, 1, &count) ||
      count == 0) {
    return EGL_NO_CONTEXT;
  }
  EGLContext context = create_context(display, config, major, minor, /*reports_resets=*/true);
  if (context == EGL_NO_CONTEXT) context = create_context(display, config, major, minor, /*reports_resets=*/false);
  if (context != EGL_NO_CONTEXT && !egl().make_current(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
    egl().destroy_context(display, context);
    return EGL_NO_CONTEXT;
  }
  return context;
}

void close(EGLDisplay display, EGLContext context) {
  egl().make_current(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  if (context != EGL_NO_CONTEXT) egl().destroy_context(display, context);
  egl().terminate(display);
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

OffscreenContext::OffscreenContext() {
  const auto candidates = displays();
  // The second round accepts any version, so that the error can name it.
  for (const auto& [major, minor] : {std::pair{4, 5}, std::pair{3, 2}}) {
    for (const EGLDisplay display : candidates) {
      if (!egl().initialize(display, nullptr, nullptr)) continue;
      const EGLContext context = make_context(display, major, minor);
      if (context == EGL_NO_CONTEXT) {
        egl().terminate(display);
        continue;
      }
      display_ = display;
      context_ = context;
      try {
        info_ = load_gl(egl().get_proc_address);
      } catch (...) {
        close(display, context);
        throw;
      }
      return;
    }
  }
  throw std::runtime_error{
      "no OpenGL without a window: EGL offers no display with desktop OpenGL. Install Mesa's drivers (libegl-mesa0, "
      "libgl1-mesa-dri) or the GPU's own"};
}

OffscreenContext::~OffscreenContext() {
  close(display_, context_);
}

}  // namespace orrery::render
